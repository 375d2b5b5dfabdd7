/**
 * The structure of the code: the permitted imports between folders, and the files with side effects. docs/development/architecture.md shows
 * the same.
 */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { codeOf, type Module, readModules } from './support/modules.ts'

const root = path.resolve(import.meta.dirname, '..')
const runtime = readModules(root, 'runtime')

/** Layers from the top; a module imports its own part, and parts of lower layers. */
const layers = [
  ['controller.ts', 'agent.ts', 'cli.ts'],
  ['controller', 'cli'],
  ['reconcile', 'receiver', 'injection', 'agent', 'standalone', 'statuspage', 'capture', 'notifications'],
  ['fleet'],
  ['validation/worker'],
  ['sync', 'content', 'certificates'],
  ['validation/run', 'git', 'gateway', 'kube', 'telemetry/metrics', 'settings/environment.ts', 'http/serve.ts'],
  ['reconcile/decide'],
  ['reconcile/rollout'],
  ['validation', 'content/protocol', 'settings'],
  ['api'],
  ['http', 'telemetry/tracing'],
  ['platform'],
]

/** Each folder of a part imports only later ones; `.` stands for the files beside the folders. */
const folders: Readonly<Record<string, readonly string[]>> = {
  api: ['schema', '.', 'glob'],
  capture: ['pull-request', 'submit', 'detect'],
  cli: ['program', 'check', 'run', 'folder', 'collections', 'fleet', '.', 'output'],
  content: ['server', 'client', 'protocol'],
  controller: ['.', 'lead', 'page', 'captures', 'serve', 'cluster'],
  git: ['api', '.', 'mirror', 'content', 'host', 'oci', 'credentials', 'disk', 'verify', 'command', 'remote'],
  receiver: ['.', 'request', 'payload'],
  reconcile: ['.', 'source', 'store', 'decide', 'rollout'],
  statuspage: ['.', 'login', 'routes', 'views', 'client', 'locales', 'actions'],
  sync: ['.', 'check', 'apply', 'plan', 'desired', 'render', 'disk', 'model'],
  validation: ['worker', 'run', 'rules', 'model'],
}

const parts = layers.flat().toSorted((a, b) => b.length - a.length)

/** The part of a module: the deepest folder in the layers, or its folder below runtime/. */
function partOf(file: string): string {
  const below = file.replace(/^runtime\//, '')
  return parts.find((part) => below === part || below.startsWith(`${part}/`)) ?? below.split('/')[0] ?? below
}

function layerOf(part: string): number {
  return layers.findIndex((layer) => layer.includes(part))
}

void t.test('every module belongs to a part of a layer', async (t) => {
  t.strictSame(
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
        return from !== to && layerOf(to) <= layerOf(from)
      })
      .map((name) => `${file} -> ${name}`),
  )
  t.strictSame(wrong, [])
})

void t.test('the folders of a part depend on each other in one direction', async (t) => {
  for (const [part, order] of Object.entries(folders)) {
    const placeOf = (file: string): number => {
      const [first = '', ...rest] = file.replace(`runtime/${part}/`, '').split('/')
      return order.indexOf(rest.length === 0 ? '.' : first)
    }
    const own = runtime.filter(({ file }) => file.startsWith(`runtime/${part}/`))
    t.strictSame(
      own.map(({ file }) => file).filter((file) => placeOf(file) < 0),
      [],
      `every folder of ${part} is drawn`,
    )
    const wrong = own.flatMap(({ file, imports, typeImports }) =>
      [...imports, ...typeImports]
        .filter((name) => name.startsWith(`runtime/${part}/`) && placeOf(name) < placeOf(file))
        .map((name) => `${file} -> ${name}`),
    )
    t.strictSame(wrong, [], part)
  }
})

void t.test('a test of one module has its name, and a test of several modules is in a folder behavior', async (t) => {
  for (const part of readdirSync(path.join(root, 'test/runtime'), { withFileTypes: true })) {
    if (!part.isDirectory()) continue
    const names = new Set(readdirSync(path.join(root, 'runtime', part.name), { recursive: true, encoding: 'utf8' }).map(nameOf)).add(
      part.name,
    )
    const tests = readdirSync(path.join(root, 'test/runtime', part.name), { recursive: true, encoding: 'utf8' })
    t.strictSame(
      tests.filter((file) => file.endsWith('.ts') && !file.includes('behavior/') && !names.has(nameOf(file))),
      [],
      part.name,
    )
  }
})

function nameOf(file: string): string {
  return path.basename(file).split('.')[0] ?? ''
}

void t.test('runtime/ imports neither infra/ nor imports/ nor their libraries', async (t) => {
  const wrong = runtime.flatMap(({ file, imports, typeImports }) =>
    [...imports, ...typeImports]
      .filter((name) => /^(?:(?:infra|imports|test|scripts|examples)\/|cdk8s|constructs)/.test(name))
      .map((name) => `${file} -> ${name}`),
  )
  t.strictSame(wrong, [])
})

void t.test('no two modules import each other in a cycle, not even for types', async (t) => {
  const graph = new Map(
    [...runtime, ...readModules(root, 'infra')].map(({ file, imports, typeImports }) => [
      file,
      [...imports, ...typeImports].filter((name) => /^(?:runtime|infra)\//.test(name)),
    ]),
  )
  t.strictSame(findCycle(graph), undefined)
})

void t.test('a module has named exports only and does not re-export everything', async (t) => {
  const all = [...runtime, ...readModules(root, 'infra')]
  t.strictSame(
    all.filter((module) => /^export default\b/m.test(codeOf(module))).map(({ file }) => file),
    [],
    'default exports',
  )
  t.strictSame(
    all.filter((module) => /^export \*/m.test(codeOf(module))).map(({ file }) => file),
    [],
    'barrels',
  )
})

void t.test('no module declares with `using`, which Node 22 cannot parse', async (t) => {
  const all = ['runtime', 'infra', 'examples', 'scripts', 'test'].flatMap((folder) => readModules(root, folder))
  t.strictSame(
    all.filter((module) => /^\s*(?:await )?using \w+ =/m.test(codeOf(module))).map(({ file }) => file),
    [],
  )
})

void t.test('a method of a class is called on its object', async (t) => {
  const methods = new Map<string, string[]>()
  for (const [, name = '', body = ''] of runtime.flatMap(({ text }) => [...text.matchAll(/^(?:export )?class (\w+)[^{]*\{\n(.*?)^\}/gms)]))
    methods.set(
      name,
      [...body.matchAll(/^ {2}(?:async )?\*?(\w+)(?:<[^>]*>)?\(/gm)].map(([, method = '']) => method),
    )
  const wrong = runtime.flatMap((module) => {
    const code = codeOf(module)
    const objects = code.matchAll(/(\w+)\??(?:: (?:Pick<)?|(?:: \w+)? = new )(\w+)\b/g)
    return [...new Set([...objects].map(([, object = '', name = '']) => `${object} ${name}`))].flatMap((pair) => {
      const [object = '', name = ''] = pair.split(' ')
      const passed = code.matchAll(new RegExp(`(?<!\\w)${object}\\.(\\w+)\\b(?!\\s*[(<=.?!:[])`, 'g'))
      return [...passed].flatMap(([use, method = '']) => (methods.get(name)?.includes(method) === true ? [`${module.file}: ${use}`] : []))
    })
  })
  t.strictSame(wrong, [], 'passed as a function, it throws: private fields need the object')
})

/** `allowed`: files, and folders that end with a slash, below runtime/. */
type Effect = { name: string; found: (module: Module) => boolean; allowed: readonly string[] }

const usesModule = (pattern: RegExp) => (module: Module) => module.imports.some((name) => pattern.test(name))
const usesWord = (pattern: RegExp) => (module: Module) => pattern.test(codeOf(module))

/** The files with access to the environment, clock, disk, processes and network. */
const effects: Effect[] = [
  { name: 'environment', found: usesWord(/\bprocess\.env\b/), allowed: ['settings/environment.ts'] },
  {
    name: 'time and chance',
    found: usesWord(
      /\bDate\.now\b|\bnew Date\(\)|\bTemporal\.Now\b|\bperformance\.now\b|\bMath\.random\b|\bsetTimeout\(|\bsetInterval\(|\brandomUUID\(/,
    ),
    allowed: [
      'platform/clock.ts',
      'platform/log/log.ts',
      'http/serve.ts',
      'sync/disk/lock.ts',
      'git/command/git.ts',
      'git/command/reading-memory.ts',
      // The script that a kubelet runs.
      'injection/container.ts',
      // The script that a browser runs.
      'statuspage/client/live-script.ts',
    ],
  },
  {
    name: 'child processes',
    found: usesModule(/^node:child_process$/),
    allowed: ['git/command/git.ts', 'git/command/tool.ts', 'git/command/batched-pipe.ts', 'git/credentials/ssh-agent.ts'],
  },
  {
    // The agent has none of these: its image needs no shell.
    name: 'a shell',
    found: ({ text }) => /\('sh', |#!\/bin\/sh|\bshell: true|`ulimit /.test(text),
    allowed: ['git/credentials/ssh-agent.ts', 'git/credentials/ssh.ts', 'git/command/git.ts', 'git/command/tool.ts', 'git/host/connect.ts'],
  },
  {
    name: 'network',
    found: (module) =>
      usesModule(/^(?:node:(?:http|https|net|tls|dgram|dns)|undici|ws|@hono\/node-server)$/)(module) || usesWord(/\bfetch\(/)(module),
    allowed: [
      'http/serve.ts',
      'kube/',
      'content/client/client.ts',
      'content/server/forward.ts',
      'content/server/leader-connection.ts',
      'git/',
      'cli/trigger.ts',
      'http/',
      // The script that a browser runs.
      'statuspage/client/live-script.ts',
    ],
  },
  {
    // fetch takes megabytes of memory in a process; the command line exits soon. The mirrors have a function of that name.
    name: 'fetch',
    found: usesWord(/(?<![.\w])fetch\(|\bglobalThis\.fetch\b/),
    allowed: ['cli/trigger.ts', 'git/mirror/', 'statuspage/client/live-script.ts'],
  },
  {
    name: 'disk',
    found: usesModule(/^node:fs(?:\/promises)?$/),
    allowed: [
      'sync/disk/',
      'sync/plan/',
      'sync/apply/',
      'sync/check/',
      'git/',
      'validation/worker/attempt-log.ts',
      'standalone/',
      'cli/',
      'certificates/',
      'kube/kubeconfig.ts',
      'agent.ts',
      'agent/probes.ts',
      'controller/page/login-secret.ts',
      'controller/page/other-clusters.ts',
      'controller/page/proxy-login.ts',
      'controller/serve/webhook-keys.ts',
      // Kernel statistics of this process.
      'platform/memory.ts',
      'notifications/notify.ts',
    ],
  },
]

for (const { name, found, allowed } of effects) {
  void t.test(`${name}: touched only where the map of the shell says, and everywhere there`, async (t) => {
    const touching = runtime.filter(found).map(({ file }) => file.replace(/^runtime\//, ''))
    const covers = (place: string, file: string): boolean => file === place || (place.endsWith('/') && file.startsWith(place))
    t.strictSame(
      touching.filter((file) => !allowed.some((place) => covers(place, file))),
      [],
    )
    t.strictSame(
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
