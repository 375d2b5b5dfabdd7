/**
 * docs/dashboards.md: what each panel asks, from the dashboards themselves. Text and pictures are not made here.
 */
import { readFile } from 'node:fs/promises'
import { dashboards } from '../../infra/constructs/dashboards.ts'
import { type GeneratedFile, replaceTable, table } from './table.ts'

const path = 'docs/dashboards.md'

export async function dashboardPage(): Promise<GeneratedFile[]> {
  const present = await readFile(path, 'utf8')
  const content = Object.entries(dashboards()).reduce((text, [file, { panels }]) => {
    const rows = panels.map(({ title, targets }) => [title, targets.map(({ expr }) => `\`${expr}\``).join(', ')])
    return replaceTable(text, path, file.replace('.json', ''), table(['Panel', 'Asks'], rows))
  }, present)
  return [{ path, content }]
}
