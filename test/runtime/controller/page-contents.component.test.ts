/**
 * What the page of a replica reads when somebody looks: whole reports, few at once and shared, and commits out of mirrors that a replica which
 * does not lead has not fetched yet.
 */
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { commitsOfStore, createReportReader } from '../../../runtime/controller/page/page-contents.ts'
import type { KubeObject } from '../../../runtime/kube/types.ts'
import { silentLog } from '../../../runtime/log.ts'
import { createSyncMirrors } from '../../../runtime/reconcile/mirrors-of-syncs.ts'
import { createStore } from '../../../runtime/reconcile/store.ts'
import { createMirrors } from '../../../runtime/source/mirrors.ts'
import { anonymousRemote } from '../../../runtime/source/remote/remote.ts'
import { report } from '../../support/fleet-facts.ts'
import { makeRepository, temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'

const signal = new AbortController().signal

/** A reader over pages that the test hands out, on a clock of its own. */
function reader(pages: (pod: string) => Promise<unknown>) {
  const asked: string[] = []
  let nowMs = 0
  const read = createReportReader({
    kube: {
      async *listPages(_type, { namespace, fieldSelector, limit }) {
        asked.push(`${namespace} ${fieldSelector} ${limit}`)
        const status = await pages(fieldSelector?.split('=')[1] ?? '')
        yield { items: status === undefined ? [] : [{ status } as KubeObject], resourceVersion: '1' }
      },
    },
    clock: { monotonicMs: () => nowMs },
  })
  return { asked, read: async (record: Parameters<typeof read>[0]) => await read(record, signal), pass: (ms: number) => (nowMs += ms) }
}

void t.test('one bounded read serves all who look, until the report is another one or half a minute old', async (t) => {
  const { asked, read, pass } = reader(async () => ({ phase: 'Synced', message: 'all of it' }))
  const first = report('gw-0', 'line-1')
  t.match(await Promise.all([read(first), read(first)]), [{ message: 'all of it' }, { message: 'all of it' }])
  t.same(asked, ['plant-a metadata.name=gw-0 1'])
  pass(29_999)
  await read(first)
  t.equal(asked.length, 1)
  await read(report('gw-0', 'line-1'))
  t.equal(asked.length, 2, 'the watch has told of another one')
  pass(1)
  await read(first)
  t.equal(asked.length, 3, 'half a minute is over')
})

void t.test('of four reads under way a fifth is not asked for, and who waits is not refused', async (t) => {
  const release = Promise.withResolvers<undefined>()
  const { asked, read } = reader(async () => {
    await release.promise
    return { phase: 'Synced' }
  })
  const records = ['a', 'b', 'c', 'd', 'e'].map((name) => report(name, 'line-1'))
  const under = records.slice(0, 4).map(async (record) => await read(record))
  const [first, , , , fifth] = records
  if (first === undefined || fifth === undefined) throw new Error('five were made')
  const again = read(first)
  t.equal(await read(fifth), undefined)
  t.equal(asked.length, 4)
  release.resolve(undefined)
  t.ok((await Promise.all([...under, again])).every((one) => one?.phase === 'Synced'))
  t.match(await read(fifth), { phase: 'Synced' }, 'and then there is room')
})

void t.test('what is gone, no report, or cannot be read is nothing, and the next look is not held up', async (t) => {
  const answers: Record<string, () => unknown> = {
    gone: () => undefined,
    odd: () => ({ phase: 7 }),
    away: () => {
      throw new Error('away')
    },
  }
  const { read } = reader(async (pod) => answers[pod]?.() ?? undefined)
  for (const pod of Object.keys(answers)) t.equal(await read(report(pod, 'line-1')), undefined, pod)
})

/** A replica that knows a GatewaySync from its watches alone. */
function replica(t: Test) {
  const folder = temporaryFolder(t, 'page-contents')
  const repository = makeRepository(path.join(folder, 'repository'))
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const store = createStore(() => {})
  const put = (name: string, spec: object): void =>
    store.upsertSync({ namespace: 'plant', name, uid: name, resourceVersion: '1', generation: 1, annotations: {}, spec, status: {} })
  const sync = { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } }
  put('line', { git: { repo: repository.folder, ref: 'main' }, sync })
  put('odd', { git: 7 })
  const syncMirrors = createSyncMirrors(mirrors, async (_namespace, { repo }) => anonymousRemote(repo, { allowLocal: true }))
  return { repository, commits: commitsOfStore({ store, mirrors: syncMirrors, clock: systemClock }) }
}

void t.test('a replica that has fetched nothing yet fetches the commit that somebody looks at', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, commits } = replica(t)
  const from = repository.commit({ 'projects/a.txt': 'one\n' })
  const commit = repository.commit({ 'projects/a.txt': 'two\n' }, 'Change the line')
  const key = { namespace: 'plant', name: 'line' }
  const { files } = await commits.changes(key, { from, commit }, signal)
  t.same(
    files.map(({ path, diff }) => [path, diff]),
    [['projects/a.txt', '-one\n+two']],
  )
  t.match(await commits.words(key, commit, signal), { subject: 'Change the line' })
})

void t.test('of a GatewaySync that is gone, or whose spec is refused, nothing is read', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, commits } = replica(t)
  const commit = repository.commit({ 'projects/a.txt': 'one\n' })
  for (const name of ['odd', 'gone']) {
    t.equal(await commits.words({ namespace: 'plant', name }, commit, signal), undefined, name)
    await t.rejects(
      commits.changes({ namespace: 'plant', name }, { from: commit, commit }, signal),
      { message: /spec of the GatewaySync/ },
      name,
    )
  }
})
