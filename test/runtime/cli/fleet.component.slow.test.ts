/**
 * The fleet commands without a cluster: the state of a real standalone run, and the errors of an unreachable cluster.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { historyCommand } from '../../../runtime/cli/fleet/history.ts'
import type { Output } from '../../../runtime/cli/output/output.ts'
import { statusCommand } from '../../../runtime/cli/fleet/status-command.ts'
import { chooseCluster } from '../../../runtime/kube/kubeconfig.ts'
import { containsText, matchObject, rejectsWith, throwsError } from '../../support/assertions.ts'
import { requires } from '../../support/requires.ts'
import { runCli } from '../../support/run-cli.ts'
import { setUpRun, writeGatewaySync } from '../../support/standalone-run.ts'

/** The output and exit code of a call. */
async function called(run: (output: Output) => Promise<number>): Promise<{ code: number; text: string }> {
  let text = ''
  const style = { width: 120, color: false, symbols: false }
  const code = await run({ style, isTerminal: false, write: (more) => (text += more) })
  return { code, text }
}

/** A kubeconfig for a cluster whose address has no listener. */
function silentCluster(folder: string): string {
  const file = path.join(folder, 'kubeconfig')
  const entry = { name: 'plant', context: { cluster: 'plant', user: 'plant', namespace: 'line-1' } }
  const cluster = { name: 'plant', cluster: { server: 'https://127.0.0.1:1' } }
  const user = { name: 'plant', user: { token: 'none' } }
  const config = { apiVersion: 'v1', kind: 'Config', clusters: [cluster], users: [user], contexts: [entry], 'current-context': 'plant' }
  writeFileSync(file, JSON.stringify(config))
  return file
}

void t.test('status and history of a standalone run are read from its state folder', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'fleet')
  const commit = repository.commit({ 'projects/line/project.json': '{}' })
  const state = path.join(folder, 'state')
  const run = await runCli([
    'run',
    '-f',
    writeGatewaySync(folder, { repo: repository.folder }),
    '--data',
    dataDir,
    '--state',
    state,
    '--once',
  ])
  t.equal(run.code, 0, run.stderr)

  const status = await runCli(['status', '--state', state])
  matchObject(t, status, { code: 0, stderr: '' })
  t.match(status.stdout, /^default\/plant is ready \(Synced\)\n/)
  containsText(t, status.stdout, `desired     main: ${commit.slice(0, 8)}`)
  t.match(status.stdout, new RegExp(`\nplant  plant    synced  ${commit.slice(0, 8)} `))

  const history = await called((output) => historyCommand(undefined, { state, format: 'json' }, output))
  matchObject(t, JSON.parse(history.text), { name: 'plant', entries: [{ commit, outcome: 'Published', isPublished: true, gateways: 1 }] })
})

void t.test('for an unreachable cluster status exits with 2 and a next step, and check exits with 1 and one failed check', async (t) => {
  const { folder } = setUpRun(t, 'silent')
  const env = { KUBECONFIG: silentCluster(folder) }
  const status = await runCli(['status'], { env })
  matchObject(t, status, { code: 2, stdout: '' })
  t.match(
    status.stderr,
    /^cluster-sync: the cluster at https:\/\/127\.0\.0\.1:1 does not answer: ECONNREFUSED [^\n]*\n +next: [A-Z][^\n]*\n$/,
  )
  const check = await runCli(['check'], { env })
  matchObject(t, check, { code: 1, stderr: '' })
  t.match(check.stdout, /^API server\n× the API server at https:\/\/127\.0\.0\.1:1 cannot be used: /)
})

void t.test('an invalid query is rejected with the reason', async (t) => {
  const { folder } = setUpRun(t, 'no-cluster')
  const kubeconfig = silentCluster(folder)
  const format = 'text' as const
  type Row = [name: string, run: (output: Output) => Promise<number>, says: RegExp]
  const rows: Row[] = [
    [
      'no kubeconfig',
      (output) => statusCommand(undefined, { format, kubeconfig: '/nowhere/config' }, output),
      /kubeconfig "\/nowhere\/config" cannot be read/,
    ],
    [
      'no such context',
      (output) => statusCommand(undefined, { format, kubeconfig, context: ['plant', 'other'] }, output),
      /no context "other"; it has plant/,
    ],
    ['no state', (output) => statusCommand(undefined, { format, state: folder }, output), /contains no state of a run/],
    ['a run and a name', (output) => statusCommand('plant', { format, state: folder }, output), /omit the name with --state/],
    ['a name everywhere', (output) => statusCommand('plant', { format, allNamespaces: true }, output), /a name belongs to one namespace/],
    ['a history of nothing', (output) => historyCommand(undefined, { format }, output), /specify the GatewaySync, or --state/],
  ]
  for (const [name, run, says] of rows) await rejectsWith(t, called(run), { reason: 'InvalidConfiguration', message: says }, name)
})

void t.test('the cluster is chosen as kubectl chooses it', async (t) => {
  const { folder } = setUpRun(t, 'kubeconfig')
  const file = silentCluster(folder)
  const other = path.join(folder, 'other')
  const cluster = { name: 'plant', cluster: { server: 'https://other' } }
  const more = { name: 'more', context: { cluster: 'plant', user: 'plant' } }
  writeFileSync(
    other,
    JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [cluster], contexts: [more], 'current-context': 'more' }),
  )
  const none = { files: [], home: undefined, inPod: false }
  const choice = { file: undefined, context: undefined, environment: { ...none, files: [file, other] } }
  matchObject(t, chooseCluster(choice), { server: 'https://127.0.0.1:1', namespace: 'line-1' }, 'of two files the first counts')
  matchObject(t, chooseCluster({ ...choice, context: 'more' }), { server: 'https://127.0.0.1:1', namespace: 'default' })
  matchObject(t, chooseCluster({ ...choice, file: other }), { server: 'https://other' }, 'one that is named counts alone')
  throwsError(t, () => chooseCluster({ ...choice, environment: none }), { message: /no cluster is known: set KUBECONFIG/ })
})

void t.test('an invalid option value is rejected with the expected form', async (t) => {
  for (const call of ['request plant --ref main --timeout 5', 'run -f none.yaml --once --timeout 5']) {
    const { code, stderr } = await runCli(call.split(' '))
    t.equal(code, 2)
    t.match(stderr, /must be a duration such as 90s, 5m or 1h/, call)
  }
})

void t.test('a command after which no gateway applies a commit has no --wait', async (t) => {
  for (const command of ['pause', 'abort']) {
    const { code, stderr } = await runCli([command, 'plant', '--wait'])
    t.equal(code, 2)
    t.match(stderr, /unknown option '--wait'/, command)
  }
})
