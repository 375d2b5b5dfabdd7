/**
 * A local change on a gateway's volume: detected with `drift`, captured by command, a branch and a pull request on the git host, and after
 * the merge adopted without a write, while the other gateway gets it.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { matchObject } from '../../../support/assertions.ts'
import { runCli } from '../../../support/run-cli.ts'
import { until } from '../../../support/world.ts'
import { captureToken, type Cluster, guardedNamespace, patience, plantRepository, tellReceiver, untilSynced, volumeOf } from '../cluster.ts'
import { gitHostName } from '../given.ts'
import { plantSite, type Site } from '../site.ts'

const sync = 'night'
const apiPath = '/github/api/v3'
const night = {
  namespace: 'night',
  name: 'press',
  replicas: 2,
  mode: 'dev',
  repository: 'plant/line.git',
  sync,
} as const
const secrets = 'captures'
const site: Site = {
  ...night,
  spec: {
    git: {
      repo: `https://${gitHostName}/${night.repository}`,
      ref: 'main',
      auth: { token: { secretRef: { name: 'git', key: 'token' } } },
      // git trusts the authorities of the image; Node, which calls the API of the host, does not.
      caBundle: { secretRef: { name: secrets, key: 'ca.crt' } },
    },
    capture: {
      auth: { token: { secretRef: { name: secrets, key: 'token' } } },
      pullRequest: true,
      api: { provider: 'github', apiBaseURL: `https://${gitHostName}${apiPath}` },
    },
  },
}
const branch = 'captured/press-0'
const view = 'projects/night/com.inductiveautomation.perspective/views/main'
const manifest = (actor: string, at: string): string =>
  JSON.stringify({
    scope: 'G',
    version: 1,
    restricted: false,
    overridable: true,
    files: ['view.json'],
    attributes: { lastModification: { actor, timestamp: at } },
  })

export async function captureRepair(t: Test, cluster: Cluster): Promise<void> {
  const repository = plantRepository(cluster, night.repository)
  repository.git('config', 'http.receivepack', 'true')
  const first = repository.commit({
    'services/projects/night/project.json': JSON.stringify({
      title: 'Night',
      enabled: true,
      inheritable: false,
      parent: '',
      description: '',
    }),
    [`services/${view}/view.json`]: JSON.stringify({ root: { props: { text: 'Start', password: 'of the day' } } }),
    [`services/${view}/resource.json`]: manifest('day', '2026-01-01T06:00:00Z'),
    'services/projects/night/notes.txt': 'misleads the shift\n',
  })
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: night.namespace, name: secrets } }
  await cluster.apply(guardedNamespace(night.namespace), {
    ...secret,
    stringData: { token: captureToken, 'ca.crt': cluster.given.authority },
  })
  await plantSite(cluster, site)
  await untilSynced(cluster, site, sync, repository, first)
  const cli = (...words: string[]) =>
    runCli([...words, '-n', night.namespace], { env: { KUBECONFIG: cluster.given.adminKubeconfig }, timeoutMs: patience.waitMs })

  const [mine, other] = [volumeOf(cluster, site, 0), volumeOf(cluster, site, 1)]
  repair(mine)
  const seen = await cli('drift', sync, '--contents', '--only', 'press-0')
  t.equal(seen.code, 1, seen.stderr)
  for (const told of [
    'night/press-0',
    `  ${view}`,
    '    ~ view.json',
    '        root.props.text: "Start" -> "Run"',
    '    + help.txt',
    '    - notes.txt',
    `  1 file changed, 1 added, 1 removed since commit ${first.slice(0, 8)}; 1 more differs only in what the gateway writes itself`,
  ])
    t.ok(seen.stdout.split('\n').includes(told), `${told}\n${seen.stdout}`)
  t.notMatch(seen.stdout, /of the day/)

  const captured = await cli('capture', sync, '--only', 'press-0', '--timeout', '2m')
  t.equal(captured.code, 0, `${captured.stdout}${captured.stderr}`)
  const { capture } = (await cluster.status(night.namespace, sync)) ?? {}
  matchObject(t, capture?.gateways, [{ pod: 'press-0', state: 'Pushed', branch, baseCommit: first, pullRequest: { state: 'Open' } }])
  const git = (...args: string[]): string =>
    repository
      .git(...args)
      .toString('utf8')
      .trim()
  t.equal(git('log', '-1', '--format=%an %P', branch), `maria ${first}`)
  const changed = ['M', 'A', 'D'].map((kind) => git('diff', '--name-only', `--diff-filter=${kind}`, first, branch))
  t.strictSame(changed, [
    `services/${view}/resource.json\nservices/${view}/view.json`,
    'services/projects/night/help.txt',
    'services/projects/night/notes.txt',
  ])
  t.strictSame(cluster.pullRequests.refused, [])
  matchObject(t, cluster.pullRequests.kept, [{ branch, base: 'main', isOpen: true, text: /"Run"/ }])
  t.notMatch(cluster.pullRequests.kept[0]?.text, /of the day/)

  const before = stamps(mine)
  repository.git('merge', '-q', '--ff-only', branch)
  await tellReceiver(cluster, night.namespace, sync)
  await untilSynced(cluster, site, sync, repository, git('rev-parse', 'main'))
  t.strictSame(stamps(mine), before, 'no file of the repair was written again')
  t.equal(readFileSync(path.join(other, view, 'view.json'), 'utf8'), readFileSync(path.join(mine, view, 'view.json'), 'utf8'))
  const after = await until(
    async () => {
      const told = await cli('drift', sync)
      return told.code === 0 ? told : undefined
    },
    'nothing differs any more',
    patience.waitMs,
  )
  t.equal(after.stdout, '0 of 2 gateways with local changes, 2 without\n')
}

/** A change of a Designer user, as it is on disk. */
function repair(dataDir: string): void {
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(dataDir, file)), { recursive: true })
    writeFileSync(path.join(dataDir, file), text)
  }
  write(`${view}/view.json`, JSON.stringify({ root: { props: { text: 'Run', password: 'of the day' } } }))
  write(`${view}/resource.json`, manifest('maria', '2026-01-02T02:00:00Z'))
  write('projects/night/help.txt', 'call the day shift\n')
  rmSync(path.join(dataDir, 'projects/night/notes.txt'))
}

/** Identifies a rewritten file. */
function stamps(dataDir: string): unknown[] {
  return [`${view}/view.json`, `${view}/resource.json`, 'projects/night/help.txt'].map((file) => {
    const { ino, mtimeMs, ctimeMs } = statSync(path.join(dataDir, file))
    return { file, ino, mtimeMs, ctimeMs }
  })
}
