/**
 * The chart on the real API server, by the commands of docs/install.md: installed, upgraded, refused, uninstalled.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { chartFiles } from '../../infra/helm/chart.ts'
import type { Kinds } from '../infra/installed.ts'
import { canRunHelm, helmOf } from '../support/helm.ts'
import { blocksOf } from '../support/page.ts'
import { temporaryFolder } from '../support/repository.ts'
import { applyForeignKinds } from '../support/foreign-kinds.ts'
import { openWorld } from '../support/world.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** The commands of the page's section on Helm, in their order. */
function documentedCommands(): string[][] {
  const blocks = blocksOf('docs/install.md').filter(({ section, language }) => /\bHelm\b/.test(section) && language === 'sh')
  const lines = blocks.flatMap(({ text }) => text.split('\n'))
  return lines.filter((line) => line !== '').map((line) => line.split(' '))
}

void t.test('the chart, by the commands of the documentation', { timeout: 240_000 }, async (t) => {
  if (!canRunHelm(t)) return
  // A control plane of its own: the kinds and the policies of an installation hold for a whole cluster.
  const world = await openWorld(t, { shared: false })
  await applyForeignKinds(t, world)
  const { plane } = world
  const { kubectl } = plane

  const folder = temporaryFolder(t, 'chart')
  cpSync(path.join(root, 'dist/chart'), path.join(folder, 'dist/chart'), { recursive: true })
  mkdirSync(path.join(folder, 'examples'))
  cpSync(path.join(root, 'examples/helm-values.yaml'), path.join(folder, 'examples/helm-values.yaml'))
  const helm = await helmOf(t, { cwd: folder, kubeconfig: plane.adminKubeconfig })
  const namespace = 'cluster-sync'
  const deployment = async (): Promise<Kinds['Deployment']> => {
    const { stdout } = await kubectl(['-n', namespace, 'get', 'deployment', 'cluster-sync-operator', '-o', 'json'])
    return JSON.parse(stdout) as Kinds['Deployment']
  }

  await t.test('a combination that cannot work stops it before anything is there', async (t) => {
    const set = '--set=leaderElection.enabled=false,replicaCount=2'
    const { code, stderr } = await helm('install', 'cluster-sync-operator', 'dist/chart', '-n', namespace, '--create-namespace', set)
    t.not(code, 0)
    t.match(stderr, 'leaderElection.enabled: 2 replicas without leader election would all write; set replicaCount: 1')
    t.match(await kubectl(['get', 'namespace', namespace]), { code: 1 })
  })

  for (const [program = '', ...args] of documentedCommands()) {
    await t.test([program, ...args].join(' '), async (t) => {
      if (program === 'npm') {
        const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
        t.equal(scripts[args[1] ?? ''], 'node scripts/ensure.mjs node scripts/chart.ts')
        const made = spawnSync(process.execPath, [path.join(root, 'scripts/chart.ts'), path.join(folder, 'dist')], { encoding: 'utf8' })
        t.equal(made.status, 0, made.stderr)
        return
      }
      const within = args.map((arg) => (arg === 'dist/chart/crds/' ? path.join(folder, arg) : arg))
      const { code, stdout, stderr } = program === 'kubectl' ? await kubectl(within) : await helm(...args)
      t.equal(code, 0, stderr)
      if (program === 'kubectl') return
      t.match(stdout, /^STATUS: deployed$/m)
      t.match(stdout, 'rollout status deployment/cluster-sync-operator')
    })
  }

  await t.test('what the commands set is in the cluster', async (t) => {
    const { spec, metadata } = await deployment()
    t.equal(spec.replicas, 2)
    t.match(metadata['labels'], { 'app.kubernetes.io/managed-by': 'Helm' })
    const { stdout } = await kubectl(['get', 'poddisruptionbudgets,servicemonitors,certificates,gs', '-A', '-o', 'name'])
    t.match(stdout, 'servicemonitor.monitoring.coreos.com/cluster-sync-operator')
  })

  await t.test('the same upgrade again changes no object', async (t) => {
    const before = await deployment()
    const { code, stderr } = await helm('upgrade', 'cluster-sync-operator', 'dist/chart', '-n', namespace, '--reuse-values')
    t.equal(code, 0, stderr)
    t.equal((await deployment()).metadata['resourceVersion'], before.metadata['resourceVersion'])
  })

  await t.test('the one replica begins to wait for the end of its predecessor, and ceases to', async (t) => {
    const strategyWith = async (claim: string): Promise<unknown> => {
      const set = `--set=replicaCount=1,source.storage.existingClaim=${claim}`
      const { code, stderr } = await helm('upgrade', 'cluster-sync-operator', 'dist/chart', '-n', namespace, set)
      t.equal(code, 0, stderr)
      return (await deployment()).spec.strategy
    }
    t.match(await strategyWith(''), { type: 'RollingUpdate' })
    t.same(await strategyWith('mirrors'), { type: 'Recreate' })
    t.match(await strategyWith(''), { type: 'RollingUpdate' })
  })

  await t.test('mirrors move to claims of a StatefulSet, and back to the Deployment', async (t) => {
    const kindWith = async (enabled: boolean): Promise<string> => {
      const set = `--set=source.persistence.enabled=${enabled}`
      const { code, stderr, stdout } = await helm('upgrade', 'cluster-sync-operator', 'dist/chart', '-n', namespace, set)
      t.equal(code, 0, stderr)
      t.match(stdout, `rollout status ${enabled ? 'statefulset' : 'deployment'}/cluster-sync-operator`)
      return (await kubectl(['-n', namespace, 'get', 'deployments,statefulsets', '-o', 'name'])).stdout.trim()
    }
    t.equal(await kindWith(true), 'statefulset.apps/cluster-sync-operator')
    t.equal(await kindWith(false), 'deployment.apps/cluster-sync-operator')
  })

  await t.test('an inline key that is withdrawn leaves the cluster', async (t) => {
    const keys = async (...receiver: string[]): Promise<string[]> => {
      const args = receiver.map((set) => `--set=webhookReceiver.${set}`)
      const { code, stderr } = await helm(
        'upgrade',
        'cluster-sync-operator',
        'dist/chart',
        '-n',
        namespace,
        '--set=webhookReceiver.enabled=true',
        ...args,
      )
      t.equal(code, 0, stderr)
      const { stdout } = await kubectl(['-n', namespace, 'get', 'secret', 'cluster-sync-operator-receiver', '-o', 'jsonpath={.data}'])
      return Object.keys(JSON.parse(stdout) as object).toSorted()
    }
    t.same(await keys('hmac.secret=one', 'token.secret=two'), ['hmac', 'token'])
    t.same(await keys('token.secret=two'), ['token'])
  })

  await t.test('the notes tell how other definitions take the place of those that Helm installed', async (t) => {
    const other = path.join(folder, 'other')
    mkdirSync(path.join(other, 'crds'), { recursive: true })
    for (const name of readdirSync(path.join(root, 'dist/chart/crds'))) {
      const definition = readFileSync(path.join(root, 'dist/chart/crds', name), 'utf8')
      writeFileSync(path.join(other, 'crds', name), definition.replaceAll(/(description: \w+)/g, '$1 (changed)'))
    }
    const { stdout: notes } = await helm('get', 'notes', 'cluster-sync-operator', '-n', namespace)
    const [, command = ''] = /^ {2}kubectl (apply .*)$/m.exec(notes) ?? []
    t.equal(
      `kubectl ${command.replace('--filename crds/', '-f dist/chart/crds/')}`,
      documentedCommands()
        .map((words) => words.join(' '))
        .find((line) => line.startsWith('kubectl')),
    )
    const { code, stderr } = await kubectl(command.split(' ').map((word) => (word === 'crds/' ? path.join(other, word) : word)))
    t.equal(code, 0, stderr)
  })

  await t.test('once uninstalled, only the definitions are left', async (t) => {
    const { code, stderr } = await helm('uninstall', 'cluster-sync-operator', '--namespace', namespace)
    t.equal(code, 0, stderr)
    const kinds = 'deployments,services,roles,clusterroles,validatingadmissionpolicies,mutatingwebhookconfigurations'
    const left = await kubectl(['get', kinds, '-A', '-l', 'app.kubernetes.io/part-of=clustersync.io', '-o', 'name'])
    t.equal(left.stdout, '')
    t.match(await kubectl(['get', 'crd', 'gatewaysyncs.clustersync.io', 'syncreports.clustersync.io']), { code: 0 })
  })
})

void t.test('the committed chart is what the sources make, and nothing else', async (t) => {
  const committed = readdirSync(path.join(root, 'dist/chart'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(path.join(root, 'dist/chart'), path.join(parentPath, name)))
  t.same(new Set(committed), new Set(chartFiles().map(({ path: name }) => name)))
})
