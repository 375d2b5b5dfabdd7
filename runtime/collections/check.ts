/**
 * Would a gateway start with this tree? Runs every check over one root of a listing. Names first, then contents in one stream, so that
 * memory follows the number of files and not their size.
 */
import { hash } from 'node:crypto'
import { resourceChecks, treeChecks } from './checks.ts'
import { readResources, type ResourceContent } from './contents.ts'
import { type Digest, type Found, inRoot, overriddenEverywhere, type ResourceFacts, type TreeFacts } from './facts.ts'
import { decidingCollections, familyOf, foldName } from './inheritance.ts'
import { type Entry, type Listing, readTexts } from './listing.ts'
import { maxManifestBytes, type ParsedMode, parseMode } from './manifests.ts'
import { createLearner, judgedOf, type Memory, planSteps, type Step } from './recall.ts'
import { type RuleId, rules, type Severity } from './rules.ts'
import { signatureAttribute } from './signature.ts'
import { buildTree, type Tree } from './tree.ts'

export type Finding = {
  rule: RuleId
  severity: Severity
  /** Relative to the repository. */
  path: string
  message: string
  help: string
  /** Name of the collection that it is about; undefined: the whole root. */
  collection?: string
}

export type Summary = { errors: number; warnings: number; resources: number; collections: number }

/** `findings` holds at most `maxFindings`, errors before warnings; the counts of the summary are of all. */
export type CheckReport = { findings: Finding[]; summary: Summary }

export type CheckOptions = {
  /** Folder that holds the collections; `''` is the top. */
  root: string
  /** The severity that a rule has at a path. Default: that of the rules' table. */
  severity?: ((rule: RuleId, path: string, usual: Severity) => Severity | 'off') | undefined
  /** The modes that gateways run with; undefined: not known. */
  modesInUse?: readonly string[] | undefined
  /** Whether gateways get `core` from this tree. Default: whether the tree has it. */
  coreDelivered?: boolean | undefined
  /** Files are templates: what they hold is known only once they are rendered. */
  templated?: boolean | undefined
  /** Report only what decides: findings of external, core and the modes in use. */
  decidingOnly?: boolean | undefined
  maxFindings?: number | undefined
  /** What an earlier check of the same root gave; this one's takes its place. */
  memory?: Memory | undefined
}

const usualMaxFindings = 10_000

/** Checks one root of a listing. Throws what reading throws; no content makes it throw. */
export async function checkCollections(listing: Listing, options: CheckOptions, signal: AbortSignal): Promise<CheckReport> {
  const { facts } = await readTree(listing, options, signal)
  const collector = createCollector(options, facts)
  for (const [rule, check] of treeChecks) {
    if (options.templated === true && rule === 'invalid-config-mode') continue
    for (const found of check(facts)) collector.add(rule, found)
  }
  if (options.templated !== true) await checkContents(listing, facts, collector, options.memory, signal)
  return collector.report()
}

/** Lists the tree and reads the manifests of its collections. */
export async function readTree(
  listing: Listing,
  { root, modesInUse, coreDelivered }: Pick<CheckOptions, 'root' | 'modesInUse' | 'coreDelivered'>,
  signal: AbortSignal,
): Promise<{ facts: TreeFacts }> {
  const prefix = root === '' ? '' : `${root}/`
  const entries: Entry[] = []
  for await (const batch of listing.list(signal)) for (const entry of batch) if (entry.path.startsWith(prefix)) entries.push(entry)
  const tree = buildTree(entries, root)
  const modes = await readModes(listing, tree, signal)
  const family = familyOf(tree, modes)
  const delivered = coreDelivered ?? family.byName.has('core')
  return {
    facts: { root, tree, family, modes, modesInUse, coreDelivered: delivered, overriddenEverywhere: overriddenEverywhere(family) },
  }
}

async function readModes(listing: Listing, { collections }: Tree, signal: AbortSignal): Promise<Map<string, ParsedMode>> {
  const manifests = collections.flatMap(({ manifest }) => manifest ?? [])
  const texts = await readTexts(listing, manifests, maxManifestBytes, signal)
  return new Map(collections.flatMap(({ name, manifest }) => (manifest === undefined ? [] : [[name, parseMode(texts.get(manifest.path))]])))
}

type Collector = { add(rule: RuleId, found: Found): void; count(resources: number): void; report(): CheckReport }

function createCollector({ severity, maxFindings = usualMaxFindings, decidingOnly }: CheckOptions, facts: TreeFacts): Collector {
  const kept: Record<Severity, Finding[]> = { error: [], warning: [] }
  const counts: Record<Severity, number> = { error: 0, warning: 0 }
  const deciding = decidingCollections(facts.family, facts.modesInUse)
  let resources = 0
  return {
    add(rule, found) {
      if (decidingOnly === true && found.collection !== undefined && !deciding.has(foldName(found.collection))) return
      const usual = found.severity ?? rules[rule].severity
      const level = severity === undefined ? usual : severity(rule, found.path, usual)
      if (level === 'off') return
      counts[level] += 1
      if (kept[level].length >= maxFindings) return
      const finding: Finding = { rule, severity: level, path: found.path, message: found.message, help: rules[rule].fix }
      if (found.collection !== undefined) finding.collection = found.collection
      kept[level].push(finding)
    },
    count(more) {
      resources += more
    },
    report: () => ({
      findings: [...kept.error.toSorted(byPath), ...kept.warning.toSorted(byPath)].slice(0, maxFindings),
      summary: {
        errors: counts.error,
        warnings: counts.warning,
        resources: facts.tree.collections.reduce((sum, collection) => sum + collection.resources.length, resources),
        collections: facts.tree.collections.filter(({ manifest }) => manifest !== undefined).length,
      },
    }),
  }
}

function byPath(a: Finding, b: Finding): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : a.rule < b.rule ? -1 : 1
}

/** Reads what is not remembered; findings come in one order, whatever was read. */
async function checkContents(
  listing: Listing,
  facts: TreeFacts,
  collector: Collector,
  memory: Memory | undefined,
  signal: AbortSignal,
): Promise<void> {
  const steps = planSteps(facts, memory)
  const learner = createLearner(memory !== undefined)
  let next = 0
  const tellBefore = (end: Step | undefined): void => {
    for (let step = steps[next]; step !== undefined && step !== end; step = steps[(next += 1)]) {
      for (const [rule, found] of step.judged?.found ?? []) collector.add(rule, found)
      learner.learn(step)
    }
  }
  const unread = memory === undefined ? steps : steps.filter(({ judged }) => judged === undefined)
  let read = 0
  await readResources(
    listing,
    unread,
    (content) => {
      const step = unread[(read += 1) - 1]
      tellBefore(step)
      if (step !== undefined) judge(content, step, steps, facts)
    },
    signal,
  )
  tellBefore(undefined)
  if (memory !== undefined) memory.known = learner.known
}

function judge(content: ResourceContent, step: Step, steps: readonly Step[], facts: TreeFacts): void {
  const { resource, collection, hashes, json, manifest: parsed } = content
  const own = step.isRepeated ? digestOf(content) : undefined
  const overridden = step.base === undefined ? undefined : steps[step.base]
  const digest = overridden?.judged?.digest
  const base = overridden === undefined || digest === undefined ? undefined : { ...digest, collection: overridden.collection.name }
  const hashed = (file: string): string | undefined => hashes.get(file)
  const path = inRoot(facts, resource.folder)
  const seen: ResourceFacts = { collection, resource, path, parsed, hash: hashed, json, base, own }
  const found = resourceChecks.flatMap(([rule, check]) => [...check(seen, facts)].map((each) => [rule, each] as const))
  step.judged = judgedOf(step, steps, found, own)
}

/** Equal for resources that a gateway would treat alike: who changed them last, and when, does not count. */
function digestOf({ hashes, manifest: parsed, resource: { folder } }: ResourceContent): Digest {
  if (parsed.kind !== 'ok') return { digest: folder, overridable: true }
  const { manifest } = parsed
  const attributes = Object.entries(manifest.attributes ?? {}).filter(
    ([name]) => name !== signatureAttribute && name !== 'lastModification',
  )
  const files = [...hashes].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const parts = { ...manifest, attributes: attributes.toSorted(([a], [b]) => (a < b ? -1 : 1)), files }
  return { digest: hash('sha256', textOf(parts, folder)), overridable: manifest.overridable }
}

/** JSON of a hostile depth cannot be written; it then equals nothing else. */
function textOf(value: unknown, folder: string): string {
  try {
    return JSON.stringify(value)
  } catch {
    return folder
  }
}
