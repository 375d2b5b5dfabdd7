/**
 * The modules that the command line loads at startup, which determine its memory and startup time for every command.
 */
import { build, type Metafile } from 'esbuild'
import t from 'tap'

const options = { bundle: true, platform: 'node', format: 'esm', splitting: true, metafile: true, write: false, logLevel: 'error' } as const

/** All modules that load with an entry point, without dynamic imports. */
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
  'runtime/validation/run/check-root.ts',
]

void t.test('a command loads only the packages that it needs', async (t) => {
  const { metafile } = await build({ ...options, entryPoints: [commands, ...ofLint], outdir: 'unwritten' })
  // Settings from the environment are parsed by small valibot schemas.
  t.strictSame(packages(loadedWith(commands, metafile)).toSorted(), ['commander', 'valibot'])
  for (const entry of ofLint)
    t.strictSame(
      packages(loadedWith(entry, metafile)).filter((name) => name !== 'valibot'),
      [],
      entry,
    )
  const network = [commands, ...ofLint]
    .flatMap((entry) => loadedWith(entry, metafile))
    .filter((path) => /^node:(?:https?|tls|net|dns)$/.test(path))
  t.strictSame([...new Set(network)], [], 'nothing that speaks to a network')
})
