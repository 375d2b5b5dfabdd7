/**
 * The shape of the code: which folder may import which, and who touches the world. docs/architecture.md draws the same.
 */
import path from 'node:path'
import t from 'tap'
import { codeOf, type Module, readModules } from './support/modules.ts'

const root = path.resolve(import.meta.dirname, '..')
const runtime = readModules(root, 'runtime')

/** Layers from the top; a module imports its own part, and parts of lower layers. */
const layers = [
  ['controller.ts', 'agent.ts', 'cli.ts', 'cli', 'controller'],
  ['reconcile', 'receiver', 'injection', 'agent', 'standalone'],
  ['gate'],
  ['sync', 'source', 'delivery', 'gateway', 'kube', 'metrics', 'config.ts', 'serve.ts', 'certificates.ts', 'certificates'],
  ['gatewaysync', 'collections', 'delivery/protocol.ts', 'delivery/frames.ts', 'settings.ts', 'agent-settings.ts', 'version.ts'],
  ['fault.ts', 'clock.ts', 'log.ts', 'log-console.ts', 'http'],
  ['redact.ts', 'json-scan.ts', 'log-level.ts'],
]

/** The few arrows within a layer, each with its reason. */
const sideways = new Map([
  ['cli.ts -> cli', 'the command line names its commands'],
  ['controller.ts -> controller', 'the entry is told in several files'],
  ['cli -> cli.ts', 'no command imports the entry'],
  ['sync -> gateway', 'the engine talks to the gateway around its renames'],
  ['certificates.ts -> kube', 'a self-managed certificate is kept in a Secret'],
  ['certificates -> kube', 'a self-managed certificate is kept in a Secret'],
  ['gatewaysync -> collections', 'one vocabulary'],
  ['collections -> gatewaysync', 'one vocabulary'],
  ['delivery/protocol.ts -> gatewaysync', 'one vocabulary'],
  ['delivery/frames.ts -> gatewaysync', 'one vocabulary'],
  ['delivery/frames.ts -> delivery/protocol.ts', 'how what the protocol names is written down'],
  ['settings.ts -> gatewaysync', 'one vocabulary'],
  ['agent-settings.ts -> gatewaysync', 'one vocabulary'],
  ['agent-settings.ts -> collections', 'one vocabulary'],
  ['clock.ts -> fault.ts', 'the foundation'],
  ['http -> clock.ts', 'the foundation'],
  ['http -> fault.ts', 'the foundation'],
  ['log.ts -> fault.ts', 'the foundation'],
])

/** The part that a module belongs to: its folder below runtime/, or the file itself. */
function partOf(file: string): string {
  const below = file.replace(/^runtime\//, '')
  const known = layers.flat()
  return known.includes(below) ? below : (below.split('/')[0] ?? below)
}

function layerOf(part: string): number {
  return layers.findIndex((parts) => parts.includes(part))
}

void t.test('every module belongs to a part of the picture', async (t) => {
  t.same(
    runtime.map(({ file }) => file).filter((file) => layerOf(partOf(file)) < 0),
    [],
  )
})

void t.test('dependencies point down only', async (t) => {
  const wrong = runtime.flatMap(({ file, imports, typeImports }) =>
    [...imports, ...typeImports]
      .filter((name) => name.startsWith('runtime/'))
      .filter((name) => {
        const [from, to] = [partOf(file), partOf(name)]
        return from !== to && layerOf(to) <= layerOf(from) && !sideways.has(`${from} -> ${to}`)
      })
      .map((name) => `${file} -> ${name}`),
  )
  t.same(wrong, [])
})

void t.test('runtime/ imports neither infra/ nor imports/', async (t) => {
  const wrong = runtime.flatMap(({ file, imports, typeImports }) =>
    [...imports, ...typeImports]
      .filter((name) => /^(?:infra|imports|test|scripts|examples)\//.test(name))
      .map((name) => `${file} -> ${name}`),
  )
  t.same(wrong, [])
})

void t.test('no two modules import each other in a circle, not even for types', async (t) => {
  const graph = new Map(
    runtime.map(({ file, imports, typeImports }) => [file, [...imports, ...typeImports].filter((name) => name.startsWith('runtime/'))]),
  )
  t.same(findCycle(graph), undefined)
})

void t.test('a module exports by name and is no barrel', async (t) => {
  const all = [...runtime, ...readModules(root, 'infra')]
  t.same(
    all.filter((module) => /^export default\b/m.test(codeOf(module))).map(({ file }) => file),
    [],
    'default exports',
  )
  t.same(
    all
      .filter((module) => /^export \*/m.test(codeOf(module)))
      .map(({ file }) => file)
      .filter((file) => file !== 'infra/index.ts'),
    [],
    'barrels',
  )
})

type Effect = { name: string; found: (module: Module) => boolean; allowed: RegExp }

const usesModule = (pattern: RegExp) => (module: Module) => module.imports.some((name) => pattern.test(name))
const usesWord = (pattern: RegExp) => (module: Module) => pattern.test(codeOf(module))

/** Who touches the world: the map of the shell. */
const effects: Effect[] = [
  { name: 'environment', found: usesWord(/\bprocess\.env\b/), allowed: /^runtime\/config\.ts$/ },
  {
    name: 'time and chance',
    found: usesWord(
      /\bDate\.now\b|\bnew Date\(\)|\bTemporal\.Now\b|\bperformance\.now\b|\bMath\.random\b|\bsetTimeout\(|\bsetInterval\(|\brandomUUID\(/,
    ),
    allowed:
      /^runtime\/(?:clock|log)\.ts$|^runtime\/sync\/(?:lock|boot)\.ts$|^runtime\/source\/git\.ts$|^runtime\/gateway\/http\.ts$|^runtime\/serve\.ts$/,
  },
  {
    name: 'child processes',
    found: usesModule(/^node:child_process$/),
    allowed: /^runtime\/source\/(?:git|tool|credentials\/ssh-agent)\.ts$/,
  },
  {
    name: 'network',
    found: (module) =>
      usesModule(/^(?:node:(?:http|https|net|tls|dgram|dns)|undici|ws|@hono\/node-server)$/)(module) || usesWord(/\bfetch\(/)(module),
    allowed:
      /^runtime\/(?:serve\.ts|kube\/|gateway\/|delivery\/(?:call|client|forward)\.ts|source\/|cli\/trigger|agent\/probes\.ts|http\/)/,
  },
  {
    name: 'disk',
    found: usesModule(/^node:fs(?:\/promises)?$/),
    allowed:
      /^runtime\/(?:config\.ts|sync\/|source\/|gate\/marks\.ts|standalone\/|cli\/|collections\/directory\.ts|certificates|agent\.ts|controller\.ts|controller\/keys\.ts|kube\/)/,
  },
]

for (const { name, found, allowed } of effects) {
  void t.test(`${name}: touched only where the map of the shell says`, async (t) => {
    const wrong = runtime.filter(found).filter(({ file }) => !allowed.test(file))
    t.same(
      wrong.map(({ file }) => file),
      [],
    )
  })
}

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>()
  const visit = (file: string, trail: string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...trail, file])
      if (cycle !== undefined) return cycle
    }
    done.add(file)
    return undefined
  }
  for (const file of graph.keys()) {
    const cycle = visit(file, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}
