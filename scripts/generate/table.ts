/** Tables in Markdown pages: between `<!-- generated:NAME -->` and `<!-- end:NAME -->`. */

/** A file below the root of the repository and its expected content. */
export type GeneratedFile = { path: string; content: string }

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function line(cells: readonly string[]): string {
  return `| ${cells.map(escaped).join(' | ')} |`
}

/** A placeholder such as <name> outside code would be parsed as HTML, which readers do not see. */
function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll(/(`[^`]*`)|<(?=[a-z])/g, (_, code: string | undefined) => code ?? '\\<')
}

/** Replaces the text between the markers of a table; throws when the page lacks them. */
export function replaceTable(text: string, path: string, name: string, rows: string): string {
  const [begin, end] = [`<!-- generated:${name} -->`, `<!-- end:${name} -->`]
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${path} needs the markers ${begin} and ${end}`)
  return `${text.slice(0, from + begin.length)}\n\n${rows}\n\n${text.slice(to)}`
}
