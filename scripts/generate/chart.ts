/**
 * dist/chart/: the packaged chart as a folder; `npm run chart` makes the archive too.
 */
import { chartFiles } from '../../infra/chart/files.ts'
import type { GeneratedFile } from './table.ts'

export async function chart(): Promise<GeneratedFile[]> {
  return chartFiles().map(({ path, content }) => ({ path: `dist/chart/${path}`, content }))
}
