/**
 * The shape of the code: which folder may import which, and who touches the world. docs/architecture.md draws the same.
 */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { codeOf, type Module, readModules } from './support/modules.ts'

const root = path.resolve(import.meta.dirname, '..')
const runtime = readModules(root, 'runtime')

/** Layers from the top; a module imports its own part, and parts of lower layers. */
const layers = [
  ['controller.ts', 'agent.ts', 'cli.ts', 'cli', 'controller'],
  ['reconcile', 'receiver', 'injection', 'agent', 'standalone', 'fleet', 'statuspage', 'capture', 'notify'],
  ['gate'],
  [
    'sync',
    'source',
    'delivery',
    'gateway',
    'kube',
    'metrics',
    'config.ts',
    'serve.ts',
    'certificates.ts',
    'certificates',
    'collections/check',
    'collections/gate',
  ],
  [
    'gatewaysync',
    'collections',
    'delivery/protocol.ts',
    'delivery/frames.ts',
    'delivery/content-frames.ts',
    'delivery/file-frames.ts',
    'delivery/limits.ts',
    'settings.ts',
    'agent-settings.ts',
    'version.ts',
  ],
  ['fault.ts', 'clock.ts', 'log.ts', 'log-console.ts', 'http', 'tracing'],
  ['redact.ts', 'json.ts', 'json-scan.ts', 'log-level.ts', 'edit-distance.ts', 'memory.ts', 'counted.ts', 'limit-concurrency.ts'],
]

/** The few arrows within a layer, each with its reason. */
const sideways = new Map([
  ['cli.ts -> cli', 'the command line names its commands'],
  ['statuspage -> fleet', 'one view model for page and terminal'],
  ['controller.ts -> controller', 'the entry is told in several files'],
  ['sync -> gateway', 'the engine talks to the gateway around its renames'],
  ['sync -> collections/check', 'the engine judges what templates make of resources'],
  ['collections/gate -> collections/check', 'the gate checks what is delivered'],
  ['delivery -> kube', 'a standby keeps in touch with the holder of the Lease'],
  ['certificates -> kube', 'a self-managed certificate is kept in a Secret'],
  ['gatewaysync -> collections', 'one vocabulary'],
  ['collections -> gatewaysync', 'one vocabulary'],
  ['delivery/protocol.ts -> gatewaysync', 'one vocabulary'],
  ['delivery/frames.ts -> gatewaysync', 'one vocabulary'],
  ['delivery/frames.ts -> delivery/protocol.ts', 'how what the protocol names is written down'],
  ['delivery/frames.ts -> delivery/limits.ts', 'what is never delivered is damage'],
  ['delivery/content-frames.ts -> gatewaysync', 'one vocabulary'],
  ['delivery/content-frames.ts -> delivery/protocol.ts', 'how what the protocol names is written down'],
  ['delivery/file-frames.ts -> gatewaysync', 'one vocabulary'],
  ['delivery/file-frames.ts -> delivery/protocol.ts', 'how what the protocol names is written down'],
  ['delivery/file-frames.ts -> delivery/content-frames.ts', 'contents with names'],
  ['delivery/file-frames.ts -> delivery/limits.ts', 'what is never delivered is damage'],
  ['delivery/limits.ts -> gatewaysync', 'one vocabulary'],
  ['settings.ts -> gatewaysync', 'one vocabulary'],
  ['agent-settings.ts -> gatewaysync', 'one vocabulary'],
  ['http -> clock.ts', 'the foundation'],
  ['http -> fault.ts', 'the foundation'],
  ['tracing -> fault.ts', 'the foundation'],
  ['tracing -> log.ts', 'the foundation'],
])

/** The rooms of the large parts: each folder imports those after it only; `.` are the files beside the folders. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  controller: ['.', 'lead', 'page', 'captures', 'serve', 'cluster', 'process'],
  cli: ['check', 'run', 'folder', 'collections', 'fleet', '.', 'story'],
  sync: ['.', 'check', 'publish', 'plan', 'desired', 'render', 'disk', 'model'],
  collections: ['gate', 'check', 'rules', 'model'],
  gatewaysync: ['decide', 'rollout', 'schema', '.', 'glob'],
  receiver: ['.', 'request', 'prove', 'payload'],
  source: ['.', 'mirror', 'content', 'host', 'credentials', 'disk', 'signatures', 'git', 'remote'],
}

const parts = layers.flat().toSorted((a, b) => b.length - a.length)

/** The part that a module belongs to: the deepest that is drawn, or its folder below runtime/. */
function partOf(file: string): string {
  const below = file.replace(/^runtime\//, '')
  return parts.find((part) => below === part || below.startsWith(`${part}/`)) ?? below.split('/')[0] ?? below
}

function layerOf(part: string): number {
  return layers.findIndex((layer) => layer.includes(part))
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

void t.test('every arrow within a layer that is permitted is used', async (t) => {
  const used = new Set(
    runtime.flatMap(({ file, imports, typeImports }) => [...imports, ...typeImports].map((name) => `${partOf(file)} -> ${partOf(name)}`)),
  )
  t.same(
    [...sideways.keys()].filter((arrow) => !used.has(arrow)),
    [],
  )
})

void t.test('the rooms of a part point one way', async (t) => {
  for (const [part, order] of Object.entries(rooms)) {
    const roomOf = (file: string): number => {
      const [first = '', ...rest] = file.replace(`runtime/${part}/`, '').split('/')
      return order.indexOf(rest.length === 0 ? '.' : first)
    }
    const own = runtime.filter(({ file }) => file.startsWith(`runtime/${part}/`))
    t.same(
      own.map(({ file }) => file).filter((file) => roomOf(file) < 0),
      [],
      `every folder of ${part} is drawn`,
    )
    const wrong = own.flatMap(({ file, imports, typeImports }) =>
      [...imports, ...typeImports]
        .filter((name) => name.startsWith(`runtime/${part}/`) && roomOf(name) < roomOf(file))
        .map((name) => `${file} -> ${name}`),
    )
    t.same(wrong, [], part)
  }
})

void t.test('a test of one module has its name, and one of many modules stands in a folder behaviour', async (t) => {
  for (const part of readdirSync(path.join(root, 'test/runtime'), { withFileTypes: true })) {
    if (!part.isDirectory()) continue
    const names = new Set(readdirSync(path.join(root, 'runtime', part.name), { recursive: true, encoding: 'utf8' }).map(nameOf)).add(
      part.name,
    )
    const tests = readdirSync(path.join(root, 'test/runtime', part.name), { recursive: true, encoding: 'utf8' })
    t.same(
      tests.filter((file) => file.endsWith('.ts') && !file.includes('behaviour/') && !names.has(nameOf(file))),
      [],
      part.name,
    )
  }
})

function nameOf(file: string): string {
  return path.basename(file).split('.')[0] ?? ''
}

void t.test('runtime/ imports neither infra/ nor imports/, nor what these are written with', async (t) => {
  const wrong = runtime.flatMap(({ file, imports, typeImports }) =>
    [...imports, ...typeImports]
      .filter((name) => /^(?:(?:infra|imports|test|scripts|examples)\/|cdk8s|constructs)/.test(name))
      .map((name) => `${file} -> ${name}`),
  )
  t.same(wrong, [])
})

void t.test('no two modules import each other in a circle, not even for types', async (t) => {
  const graph = new Map(
    [...runtime, ...readModules(root, 'infra')].map(({ file, imports, typeImports }) => [
      file,
      [...imports, ...typeImports].filter((name) => /^(?:runtime|infra)\//.test(name)),
    ]),
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
    all.filter((module) => /^export \*/m.test(codeOf(module))).map(({ file }) => file),
    [],
    'barrels',
  )
})

/** `allowed`: files, and folders that end with a slash, below runtime/. */
type Effect = { name: string; found: (module: Module) => boolean; allowed: readonly string[] }

const usesModule = (pattern: RegExp) => (module: Module) => module.imports.some((name) => pattern.test(name))
const usesWord = (pattern: RegExp) => (module: Module) => pattern.test(codeOf(module))

/** Who touches the world: the map of the shell. */
const effects: Effect[] = [
  { name: 'environment', found: usesWord(/\bprocess\.env\b/), allowed: ['config.ts'] },
  {
    name: 'time and chance',
    found: usesWord(
      /\bDate\.now\b|\bnew Date\(\)|\bTemporal\.Now\b|\bperformance\.now\b|\bMath\.random\b|\bsetTimeout\(|\bsetInterval\(|\brandomUUID\(/,
    ),
    allowed: [
      'clock.ts',
      'log.ts',
      'serve.ts',
      'sync/disk/lock.ts',
      'source/git/git.ts',
      // The script that a kubelet runs.
      'injection/container.ts',
      // The script that a browser runs.
      'statuspage/live-script.ts',
    ],
  },
  {
    name: 'child processes',
    found: usesModule(/^node:child_process$/),
    allowed: ['source/git/git.ts', 'source/git/tool.ts', 'source/git/batched-pipe.ts', 'source/credentials/ssh-agent.ts'],
  },
  {
    // That of agents has none of these: its image needs no shell.
    name: 'a shell',
    found: ({ text }) => /\('sh', |#!\/bin\/sh|\bshell: true|`ulimit /.test(text),
    allowed: [
      'source/credentials/ssh-agent.ts',
      'source/credentials/ssh.ts',
      'source/git/git.ts',
      'source/git/tool.ts',
      'source/host/local-repository.ts',
    ],
  },
  {
    name: 'network',
    found: (module) =>
      usesModule(/^(?:node:(?:http|https|net|tls|dgram|dns)|undici|ws|@hono\/node-server)$/)(module) || usesWord(/\bfetch\(/)(module),
    allowed: [
      'serve.ts',
      'kube/',
      'delivery/client.ts',
      'delivery/forward.ts',
      'delivery/leading.ts',
      'source/',
      'cli/trigger.ts',
      'agent/probes.ts',
      'http/',
      // The script that a browser runs.
      'statuspage/live-script.ts',
    ],
  },
  {
    // It is megabytes of a process that touches it, and the command line ends at once. The mirrors have a function of that name.
    name: 'fetch',
    found: usesWord(/(?<![.\w])fetch\(|\bglobalThis\.fetch\b/),
    allowed: ['cli/trigger.ts', 'source/mirror/', 'statuspage/live-script.ts'],
  },
  {
    name: 'disk',
    found: usesModule(/^node:fs(?:\/promises)?$/),
    allowed: [
      'sync/disk/',
      'sync/plan/',
      'sync/publish/',
      'sync/check/',
      'source/',
      'gate/marks.ts',
      'standalone/',
      'cli/',
      'certificates/',
      'kube/kubeconfig.ts',
      'agent.ts',
      'agent/probe-files.ts',
      'controller/page/login-secret.ts',
      'controller/page/proxy-login.ts',
      'controller/serve/webhook-keys.ts',
      // What the kernel says of this process.
      'memory.ts',
      'notify/receivers/secret-folder.ts',
    ],
  },
]

for (const { name, found, allowed } of effects) {
  void t.test(`${name}: touched only where the map of the shell says, and everywhere there`, async (t) => {
    const touching = runtime.filter(found).map(({ file }) => file.replace(/^runtime\//, ''))
    const covers = (place: string, file: string): boolean => file === place || (place.endsWith('/') && file.startsWith(place))
    t.same(
      touching.filter((file) => !allowed.some((place) => covers(place, file))),
      [],
    )
    t.same(
      allowed.filter((place) => !touching.some((file) => covers(place, file))),
      [],
      'an allowance that nobody uses',
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
