/**
 * The address of the project and its version in pages that name them.
 */
import { readFile } from 'node:fs/promises'
import { version } from '../../runtime/platform/version.ts'
import { homeIn } from '../home.ts'
import type { GeneratedFile } from './table.ts'

/** By page, what names the project: the pattern and its replacement. */
export async function homes(): Promise<GeneratedFile[]> {
  const { url, owner, name } = homeIn()
  const places: Readonly<Record<string, readonly (readonly [pattern: RegExp, shown: string])[]>> = {
    'docs/tutorials/one-machine.md': [[/(?<=^git clone --quiet )\S+(?= program$)/m, `${url}.git`]],
    'docs/how-to/pipelines.md': [
      [/(?<=- uses: )\S+\/cluster-sync-operator@\S+/, `${owner}/${name}@v${version}`],
      [/(?<=- repo: )\S+\n    rev: \S+/, `${url}\n    rev: v${version}`],
    ],
  }
  return await Promise.all(
    Object.entries(places).map(async ([path, replacements]) => {
      const content = replacements.reduce(
        (text, [pattern, shown]) => {
          if (!pattern.test(text)) throw new Error(`${path} has no place for ${shown}`)
          return text.replace(pattern, shown)
        },
        await readFile(path, 'utf8'),
      )
      return { path, content }
    }),
  )
}
