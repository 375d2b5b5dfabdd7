/**
 * The result of a check of an installation, and how it reads: a line for each thing that was looked at, and what to do where it is not well.
 */
import { worstOf } from '../level.ts'
import { heading, painted, type Style, symbolOf } from '../paint.ts'
import { folded } from '../table.ts'

/** What is looked at, in the order in which it is told, with the headings. */
export const sections = {
  'api-server': 'API server',
  definitions: 'Definitions of the kinds',
  operator: 'Operator',
  rights: 'Rights',
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
  /** What to do; only where it is not well. */
  advice?: string
}

/** `at` is when it was looked, RFC 3339 in UTC; `level` is the worst of the findings. */
export type CheckReport = {
  at: string
  level: 'ok' | 'warning' | 'error'
  findings: Finding[]
}

/** The page whose headings are the sections. */
const page = 'docs/check.md'

/** The findings with the worst of their levels, which decides the exit code. */
export function reportOf(findings: readonly Finding[], now: Temporal.Instant): CheckReport {
  const level = worstOf(findings.map(({ level }) => level)) as CheckReport['level']
  return { at: now.toString({ smallestUnit: 'second' }), level, findings: [...findings] }
}

/** The report as lines for people: sections, ✓ ‼ ×, what to do, a link. */
export function checkText({ level, findings }: CheckReport, style: Style): string[] {
  const lines = (Object.keys(sections) as SectionId[]).flatMap((section) => {
    const own = findings.filter((finding) => finding.section === section)
    return own.length === 0 ? [] : [heading(sections[section], style), ...own.flatMap((finding) => findingText(finding, style)), '']
  })
  const count = (of: Finding['level']): number => findings.filter((finding) => finding.level === of).length
  const words = { ok: 'All is well', warning: 'It works', error: 'It does not work' }[level]
  const sum = `${words}: ${count('ok')} in order, ${count('warning')} worth knowing, ${count('error')} broken.`
  return [...lines, `${painted(symbolOf[level], level, style)} ${sum}`]
}

function findingText({ section, level, text, advice }: Finding, style: Style): string[] {
  const mark = `${painted(symbolOf[level], level, style)} `
  const more =
    level === 'ok' ? [] : [...(advice === undefined ? [] : folded(advice, style.width, '  -> ', '     ')), `  see ${page}#${section}`]
  return [...folded(text, style.width, mark, '  '), ...more]
}
