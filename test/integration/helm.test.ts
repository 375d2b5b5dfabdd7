/**
 * The chart on the real API server, with the commands of docs/how-to/install.md: installed, upgraded, refused, uninstalled.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { chartFiles } from '../../infra/chart/files.ts'
import type { Kinds } from '../infra/installed.ts'
import { canRunHelm, helmOf } from '../support/helm.ts'
import { blocksOf } from '../support/page.ts'
import { temporaryFolder } from '../support/repository.ts'
import { applyForeignKinds } from '../support/foreign-kinds.ts'
import { openWorld } from '../support/world.ts'
import { containsText, matchObject } from '../support/assertions.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** The commands of the page's section on Helm, in order. */
function documentedCommands(): string[][] {
  const blocks = blocksOf('docs/how-to/install.md').filter(({ section, language }) => /\bHelm\b/.test(section) && language === 'sh')
  const lines = blocks.flatMap(({ text }) => text.split('\n'))
  return lines.filter((line) => line !== '').map((line) => line.split(' '))
}

void t.test('the Helm commands of the documentation install, upgrade and uninstall the chart', { timeout: 600_000 }, async (t) => {
  if (!canRunHelm(t)) return
  // A separate control plane, because the kinds and policies of an installation are cluster-wide.
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

  await t.test('an invalid combination is refused before any object exists', async (t) => {
    const set = '--set=leaderElection.enabled=false,replicaCount=2'
    const { code, stderr } = await helm('install', 'cluster-sync-operator', 'dist/chart', '-n', namespace, '--create-namespace', set)
    t.not(code, 0)
    containsText(
      t,
      stderr,
      'leaderElection.enabled: must be true with 2 replicas; otherwise each of them would act as leader. Alternatively, set replicaCount: 1',
    )
    matchObject(t, await kubectl(['get', 'namespace', namespace]), { code: 1 })
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
      const pipe = args.indexOf('|')
      const { code, stdout, stderr } = await helm(...(pipe < 0 ? args : args.slice(0, pipe)))
      t.equal(code, 0, stderr)
      if (pipe >= 0) {
        t.equal(args[pipe + 1], 'kubectl')
        const applied = await kubectl(args.slice(pipe + 2), stdout)
        t.equal(applied.code, 0, applied.stderr)
        t.equal(applied.stdout.match(/^customresourcedefinition\S+ serverside-applied$/gm)?.length, 2)
        return
      }
      t.match(stdout, /^STATUS: deployed$/m)
      containsText(t, stdout, 'rollout status deployment/cluster-sync-operator')
    })
  }

  await t.test('the cluster has the values of the commands', async (t) => {
    const { spec, metadata } = await deployment()
    t.equal(spec.replicas, 2)
    matchObject(t, metadata['labels'], { 'app.kubernetes.io/managed-by': 'Helm' })
    const { stdout } = await kubectl(['get', 'poddisruptionbudgets,servicemonitors,certificates,gs', '-A', '-o', 'name'])
    containsText(t, stdout, 'servicemonitor.monitoring.coreos.com/cluster-sync-operator')
  })

  await t.test('the same upgrade again changes no object', async (t) => {
    const before = await deployment()
    const { code, stderr } = await helm('upgrade', 'cluster-sync-operator', 'dist/chart', '-n', namespace, '--reuse-values')
    t.equal(code, 0, stderr)
    t.equal((await deployment()).metadata['resourceVersion'], before.metadata['resourceVersion'])
  })

  await t.test('a claim for mirrors changes the update strategy to Recreate, and its removal changes it back', async (t) => {
    const strategyWith = async (claim: string): Promise<unknown> => {
      const set = `--set=replicaCount=1,source.storage.existingClaim=${claim}`
      const { code, stderr } = await helm('upgrade', 'cluster-sync-operator', 'dist/chart', '-n', namespace, set)
      t.equal(code, 0, stderr)
      return (await deployment()).spec.strategy
    }
    matchObject(t, await strategyWith(''), { type: 'RollingUpdate' })
    t.strictSame(await strategyWith('mirrors'), { type: 'Recreate' })
    matchObject(t, await strategyWith(''), { type: 'RollingUpdate' })
  })

  await t.test('mirrors move to claims of a StatefulSet, and back to the Deployment', async (t) => {
    const kindWith = async (enabled: boolean): Promise<string> => {
      const set = `--set=source.persistence.enabled=${enabled}`
      const { code, stderr, stdout } = await helm('upgrade', 'cluster-sync-operator', 'dist/chart', '-n', namespace, set)
      t.equal(code, 0, stderr)
      containsText(t, stdout, `rollout status ${enabled ? 'statefulset' : 'deployment'}/cluster-sync-operator`)
      return (await kubectl(['-n', namespace, 'get', 'deployments,statefulsets', '-o', 'name'])).stdout.trim()
    }
    t.equal(await kindWith(true), 'statefulset.apps/cluster-sync-operator')
    t.equal(await kindWith(false), 'deployment.apps/cluster-sync-operator')
  })

  await t.test('a removed inline key is deleted from the cluster', async (t) => {
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
    t.strictSame(await keys('hmac.secret=one', 'token.secret=two'), ['hmac', 'token'])
    t.strictSame(await keys('token.secret=two'), ['token'])
  })

  await t.test('the notes show the command that replaces the CRDs installed by Helm', async (t) => {
    const other = path.join(folder, 'other')
    cpSync(path.join(root, 'dist/chart'), other, { recursive: true })
    for (const name of readdirSync(path.join(other, 'crds'))) {
      const file = path.join(other, 'crds', name)
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(description: \w+)/g, '$1 (changed)'))
    }
    const { stdout: notes } = await helm('get', 'notes', 'cluster-sync-operator', '-n', namespace)
    containsText(t, notes, `\n  cluster-sync check --operator-namespace ${namespace}\n`)
    const [line = '', command = ''] = /^ {2}helm show crds <chart> \| kubectl (apply .*)$/m.exec(notes) ?? []
    t.equal(
      line.trim().replace('<chart>', 'dist/chart').replace('--filename', '-f'),
      documentedCommands()
        .map((words) => words.join(' '))
        .find((words) => words.includes('kubectl')),
    )
    const { stdout } = await helm('show', 'crds', other)
    const { code, stderr } = await kubectl(command.split(' '), stdout)
    t.equal(code, 0, stderr)
    const { stdout: applied } = await kubectl(['get', 'crd', 'gatewaysyncs.clustersync.io', '-o', 'yaml'])
    t.match(applied, /description: \w+ \(changed\)/)
  })

  await t.test('uninstalling leaves only the CRDs', async (t) => {
    const { code, stderr } = await helm('uninstall', 'cluster-sync-operator', '--namespace', namespace)
    t.equal(code, 0, stderr)
    const kinds = 'deployments,services,roles,clusterroles,validatingadmissionpolicies,mutatingwebhookconfigurations'
    const left = await kubectl(['get', kinds, '-A', '-l', 'app.kubernetes.io/part-of=clustersync.io', '-o', 'name'])
    t.equal(left.stdout, '')
    matchObject(t, await kubectl(['get', 'crd', 'gatewaysyncs.clustersync.io', 'syncreports.clustersync.io']), { code: 0 })
  })
})

void t.test('the committed chart has exactly the files of the sources', async (t) => {
  const committed = readdirSync(path.join(root, 'dist/chart'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(path.join(root, 'dist/chart'), path.join(parentPath, name)))
  t.strictSame(new Set(committed), new Set(chartFiles().map(({ path: name }) => name)))
})
