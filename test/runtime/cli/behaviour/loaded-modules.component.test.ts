/**
 * What each start of the command line loads: its memory and its time, whatever the command is.
 */
import { build, type Metafile } from 'esbuild'
import t from 'tap'

const options = { bundle: true, platform: 'node', format: 'esm', splitting: true, metafile: true, write: false, logLevel: 'error' } as const

/** Everything that comes with a module before anything is called. */
function loadedWith(entry: string, { inputs }: Metafile): string[] {
  const loaded = new Set([entry])
  for (const each of loaded) {
    for (const { kind, path } of inputs[each]?.imports ?? []) if (kind !== 'dynamic-import') loaded.add(path)
  }
  return [...loaded]
}

const packages = (modules: readonly string[]): string[] => [
  ...new Set(modules.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])),
]
const commands = 'runtime/cli.ts'
const ofLint = [
  'runtime/cli/collections/collections-input.ts',
  'runtime/cli/collections/lint-formats.ts',
  'runtime/collections/check/check.ts',
]

void t.test('a command loads the packages that it needs, and none of another command', async (t) => {
  const { metafile } = await build({ ...options, entryPoints: [commands, ...ofLint], outdir: 'unwritten' })
  // The settings of the environment are small schemas of valibot.
  t.same(packages(loadedWith(commands, metafile)).toSorted(), ['commander', 'valibot'])
  for (const entry of ofLint)
    t.same(
      packages(loadedWith(entry, metafile)).filter((name) => name !== 'valibot'),
      [],
      entry,
    )
  const network = [commands, ...ofLint]
    .flatMap((entry) => loadedWith(entry, metafile))
    .filter((path) => /^node:(?:https?|tls|net|dns)$/.test(path))
  t.same([...new Set(network)], [], 'nothing that speaks to a network')
})
