/**
 * The report of an installation check, and its text form: a line for each check, with advice where it did not pass.
 */
import { counted } from '../../platform/text/counted.ts'
import type { Temporal } from '../../platform/temporal.ts'
import { folded, heading, painted, type Style, symbolOf } from '../terminal.ts'
import { worstOf } from '../view.ts'
import { docsPage } from '../../platform/version.ts'

/** The sections with their headings, in report order. */
export const sections = {
  'api-server': 'API server',
  definitions: 'CRDs',
  operator: 'Operator',
  permissions: 'Permissions',
  certificates: 'Certificates',
  admission: 'Admission webhook',
  delivery: 'Delivery',
  git: 'Git hosts',
  gateways: 'Gateways',
  images: 'Images',
} as const

export type SectionId = keyof typeof sections

export type Finding = {
  section: SectionId
  level: 'ok' | 'warning' | 'error'
  text: string
  /** What to do; only for findings that are not ok. */
  advice?: string
}

/** `at` is the time of the check, RFC 3339 in UTC; `level` is the worst level of the findings. */
export type CheckReport = {
  at: string
  level: 'ok' | 'warning' | 'error'
  findings: Finding[]
}

/** Where a table explains the sections by their headings. */
const page = docsPage('docs/how-to/check.md#sections')

/** Combines the findings with their worst level, which determines the exit code. */
export function reportOf(findings: readonly Finding[], now: Temporal.Instant): CheckReport {
  const level = worstOf(findings.map(({ level }) => level)) as CheckReport['level']
  return { at: now.toString({ smallestUnit: 'second' }), level, findings: [...findings] }
}

/** Formats the report as lines of text: sections, ✓ ‼ ×, advice, a link. */
export function checkText({ level, findings }: CheckReport, style: Style): string[] {
  const lines = (Object.keys(sections) as SectionId[]).flatMap((section) => {
    const own = findings.filter((finding) => finding.section === section)
    return own.length === 0 ? [] : [heading(sections[section], style), ...own.flatMap((finding) => findingText(finding, style)), '']
  })
  const count = (of: Finding['level']): number => findings.filter((finding) => finding.level === of).length
  const words = { ok: 'All checks passed', warning: 'Passed with warnings', error: 'Not working' }[level]
  const sum = `${words}: ${count('ok')} passed, ${counted(count('warning'), 'warning')}, ${count('error')} failed.`
  return [...lines, `${painted(symbolOf[level], level, style)} ${sum}`]
}

function findingText({ level, text, advice }: Finding, style: Style): string[] {
  const mark = `${painted(symbolOf[level], level, style)} `
  const more = level === 'ok' ? [] : [...(advice === undefined ? [] : folded(advice, style.width, '  -> ', '     ')), `  see ${page}`]
  return [...folded(text, style.width, mark, '  '), ...more]
}
