/**
 * Ctrl-C and SIGTERM end every waiting command without a stack trace. Each command runs as its own process against a server that never
 * responds, or against an API server without a controller. Only a command that runs until it is stopped exits with 0.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { containsText } from '../../../support/assertions.ts'
import { spawnCli } from '../../../support/run-cli.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { absent, requires } from '../../../support/requires.ts'
import { until } from '../../../support/world.ts'

type Server = { url: string; calls: string[] }

/** Records each call. A call without an answer stays open. */
async function serve(t: Test, answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<Server> {
  const calls: string[] = []
  const server = createServer((request, response) => {
    calls.push(request.method ?? '')
    void answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
}

const commit = 'a'.repeat(40)
const plant = {
  apiVersion: 'clustersync.io/v1alpha1',
  kind: 'GatewaySync',
  metadata: { namespace: 'line-1', name: 'plant', uid: 'u', resourceVersion: '1', generation: 1 },
  spec: { git: { repo: 'https://git.plant.example/plant.git', ref: 'main' }, capture: {}, sync: {} },
  status: {
    published: { commit, ref: 'main' },
    history: [{ commit: 'b'.repeat(40), ref: 'v1', outcome: 'Published', at: '2026-01-01T00:00:00Z' }],
    rollout: { id: 'r1', commit, state: 'Progressing', stage: 'line', waitsFor: 'Approval', stages: [{ name: 'line' }] },
  },
}

/** Answers as an API server with one GatewaySync and no controller. */
async function withoutController(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await text(request)
  const json = request.url?.includes('/gatewaysyncs/') === true ? plant : { items: [], metadata: {} }
  response.setHeader('content-type', 'application/json').end(JSON.stringify(json))
}

const never = async (): Promise<void> => undefined

/** Creates the working directory of the commands: a kubeconfig for the server, and a GatewaySync with a repository there. */
function setUp(t: Test, { url }: Server): string {
  const folder = temporaryFolder(t, 'stopped')
  mkdirSync(path.join(folder, 'data'))
  mkdirSync(path.join(folder, 'tmp'))
  const config = {
    'current-context': 'plant',
    contexts: [{ name: 'plant', context: { cluster: 'plant', user: 'plant', namespace: 'line-1' } }],
    clusters: [{ name: 'plant', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'plant', user: {} }],
  }
  writeFileSync(path.join(folder, 'kubeconfig'), JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }))
  const mappings = [{ source: 'projects', destination: 'projects' }]
  const spec = { git: { repo: `${url}/plant.git`, ref: 'main' }, sync: { profiles: { default: { mappings } } } }
  writeFileSync(path.join(folder, 'plant.yaml'), JSON.stringify({ ...plant, metadata: { name: 'plant' }, spec, status: undefined }))
  return folder
}

/** A command, optionally run as the first process of a container. */
type Call = string | { first: string }

/** Starts a command, sends it a signal once it waits, and returns how it ended. */
async function stop(t: Test, asked: Call, name: NodeJS.Signals, server: Server, waits: () => boolean) {
  const cwd = setUp(t, server)
  const isFirst = typeof asked !== 'string'
  const call = isFirst ? asked.first : asked
  const child = spawnCli(call.split(' '), {
    cwd,
    under: isFirst ? ['unshare', '--pid', '--fork', '--kill-child'] : [],
    env: { KUBECONFIG: path.join(cwd, 'kubeconfig'), TMPDIR: path.join(cwd, 'tmp'), STATE_DIRECTORY: path.join(cwd, 'state') },
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) => child.once('close', (code, by) => resolve(by ?? code)))
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  await until(() => (waits() || child.exitCode !== null ? true : undefined), `${call} waits`)
  if (isFirst) process.kill(Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')), name)
  else child.kill(name)
  const end = await ended
  const said = (await output).join('')
  t.notMatch(said, /\n {4}at |Error:/, 'no stack')
  return { end, said, left: readdirSync(path.join(cwd, 'tmp')) }
}

const signalsOf = (index: number) => (index % 2 === 0 ? (['SIGINT', 'SIGTERM'] as const) : (['SIGTERM', 'SIGINT'] as const))

const endless = ['status --watch', 'status plant -w', 'run -f plant.yaml --data data', 'run -f plant.yaml --data data --status-port 0']

for (const [index, call] of endless.entries()) {
  void t.test(`${call} ends with 0 when it is stopped`, { timeout: 600_000 }, async (t) => {
    if (!requires(t, 'git')) return
    const [name] = signalsOf(index)
    const silent = await serve(t, never)
    const { end, said } = await stop(t, call, name, silent, () => silent.calls.length > 0)
    t.equal(end, 0, `${name}: ${said}`)
  })
}

const waiting = [
  'request plant --ref main --wait',
  'rollback plant --wait',
  'pause plant',
  'resume plant --wait',
  'approve plant --wait',
  'abort plant',
  'capture plant',
]

for (const [index, call] of waiting.entries()) {
  void t.test(`${call} ends by the signal, and says that the outcome is not known`, { timeout: 600_000 }, async (t) => {
    if (!requires(t, 'git')) return
    const [first, second] = signalsOf(index)
    const silent = await serve(t, never)
    const silently = await stop(t, call, first, silent, () => silent.calls.length > 0)
    t.equal(silently.end, first, `nobody answers: ${silently.said}`)
    const api = await serve(t, withoutController)
    const isAsked = (): boolean => api.calls.slice(api.calls.indexOf('PATCH')).filter((method) => method === 'GET').length > 0
    const idly = await stop(t, call, second, api, () => api.calls.includes('PATCH') && isAsked())
    t.equal(idly.end, second, `no controller acts: ${idly.said}`)
    containsText(t, idly.said, 'stopped before the outcome was known; "cluster-sync status" shows it')
  })
}

/** The exit codes of these commands are results, so a stopped command must not exit with 0. */
const answering = ['lint <url>/plant.git --ref main', 'plan -f plant.yaml --data data', 'check', 'run -f plant.yaml --data data --once']

for (const [index, call] of answering.entries()) {
  const name = index % 2 === 0 ? 'SIGINT' : 'SIGTERM'
  void t.test(`${call} does not end with 0 when it is stopped, and leaves nothing behind`, { timeout: 600_000 }, async (t) => {
    if (!requires(t, 'git')) return
    const silent = await serve(t, never)
    const { end, said, left } = await stop(t, call.replace('<url>', silent.url), name, silent, () => silent.calls.length > 0)
    t.equal(end, call.startsWith('run') ? 1 : name, said)
    t.strictSame(left, [])
  })
}

void t.test('a stopped lint that is the first process of a container exits with 143', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'unshare')) return
  if (process.geteuid?.() !== 0) {
    absent(t, 'only root may begin a namespace of processes')
    return
  }
  const silent = await serve(t, never)
  const lint = `lint ${silent.url}/plant.git --ref main`
  const { end, said, left } = await stop(t, { first: lint }, 'SIGTERM', silent, () => silent.calls.length > 0)
  t.equal(end, 143, `no signal of its own ends it, so the code says what stopped it: ${said}`)
  t.strictSame(left, [])
})

void t.test('a command whose output pipe is closed exits without a stack trace', async (t) => {
  const { stdout: output, stderr } = spawnSync(
    'bash',
    ['-c', '{ sleep 0.2; "$0" runtime/cli.ts --help; echo "$?" >&2; } | :', process.execPath],
    {
      encoding: 'utf8',
    },
  )
  t.strictSame({ output, stderr }, { output: '', stderr: '141\n' })
})
