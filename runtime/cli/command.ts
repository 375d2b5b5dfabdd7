import { docsPage } from '../platform/version.ts'

type Footer = {
  /** Meaning of each exit code of the command. */
  exits?: Readonly<{ 0: string; 1?: string; 2: string }>
  /** Examples without the program name. */
  calls?: readonly string[]
  note?: string
  /** Path of the page in this repository. */
  page?: string
}

export function helpFooter({ exits, calls = [], note, page }: Footer): string {
  const codes =
    exits === undefined ? [] : [`Exit codes:\n${linesOf(Object.entries(exits).map(([code, meaning]) => `${code}  ${meaning}`))}`]
  const examples = calls.length === 0 ? [] : [`Examples:\n${linesOf(calls.map((call) => `cluster-sync ${call}`))}`]
  const more = page === undefined ? [] : [`More: ${docsPage(page)}`]
  return ['', ...codes, ...examples, ...(note === undefined ? [] : [note]), ...more].join('\n\n').slice(1)
}

function linesOf(entries: readonly string[]): string {
  return entries.map((entry) => `  ${entry}`).join('\n')
}

export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value]
}
