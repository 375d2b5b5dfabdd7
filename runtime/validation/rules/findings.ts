/**
 * Collects findings: their severity, whether they decide, and how many are kept. Pure.
 */
import { foldName } from '../../api/values.ts'
import type { Violation } from './input.ts'
import { decidingCollections, type CollectionsByName } from '../model/inheritance.ts'
import { type Level, type RuleId, rules, type Severity } from './rules.ts'

/** One violation as reported. */
export type CheckFinding = {
  rule: RuleId
  severity: Severity
  /** Relative to the repository. */
  path: string
  message: string
  help: string
  /** Name of the affected collection; undefined: the whole root. */
  collection?: string
}

/** Counts of all findings and read files. */
export type Summary = { errors: number; warnings: number; resources: number; collections: number }

/** `findings` holds at most `maxFindings`, errors before warnings; the counts of the summary are of all. */
export type CheckReport = { findings: CheckFinding[]; summary: Summary }

/** Which findings are kept, and with which severity. */
export type CollectorOptions = {
  /** The severity that a rule has at a path. Default: that of the rules' table. */
  severity?: ((rule: RuleId, path: string, usual: Level) => Level) | undefined
  /** The modes that gateways run with; undefined: unknown. */
  modesInUse?: readonly string[] | undefined
  /** Report only what decides: findings of external, core and the modes in use. */
  decidingOnly?: boolean | undefined
  maxFindings?: number | undefined
}

const defaultMaxFindings = 10_000

/** Accepts violations in any order. */
export type Collector = { add(rule: RuleId, found: Violation): void; report(size: Pick<Summary, 'resources' | 'collections'>): CheckReport }

/** `family` holds the inheritance of collections. */
export function createCollector(
  { severity, maxFindings = defaultMaxFindings, decidingOnly, modesInUse }: CollectorOptions,
  family: CollectionsByName,
): Collector {
  const kept: Record<Severity, CheckFinding[]> = { error: [], warning: [] }
  const counts: Record<Severity, number> = { error: 0, warning: 0 }
  const deciding = decidingCollections(family, modesInUse)
  return {
    add(rule, found) {
      if (decidingOnly === true && found.collection !== undefined && !deciding.has(foldName(found.collection))) return
      const usual = found.severity ?? rules[rule].severity
      const level = severity === undefined ? usual : severity(rule, found.path, usual)
      if (level === 'off') return
      counts[level] += 1
      if (kept[level].length >= maxFindings) return
      const finding: CheckFinding = { rule, severity: level, path: found.path, message: found.message, help: rules[rule].fix }
      if (found.collection !== undefined) finding.collection = found.collection
      kept[level].push(finding)
    },
    report: ({ resources, collections }) => ({
      findings: [...kept.error.toSorted(byPath), ...kept.warning.toSorted(byPath)].slice(0, maxFindings),
      summary: { errors: counts.error, warnings: counts.warning, resources, collections },
    }),
  }
}

function byPath(a: CheckFinding, b: CheckFinding): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : a.rule < b.rule ? -1 : 1
}
