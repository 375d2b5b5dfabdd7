/**
 * What the status page of a replica reads on demand: full reports, in few shared reads, and commits from mirrors that a standby has not
 * fetched yet.
 */
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { commitsOfStore, createReportReader } from '../../../../runtime/controller/page/page-contents.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createSyncMirrors } from '../../../../runtime/reconcile/source/mirrors-of-syncs.ts'
import { Store } from '../../../../runtime/reconcile/store/store.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'
import { report } from '../../../support/fleet-facts.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = new AbortController().signal

/** A reader of simulated API pages with its own clock. */
function reader(pages: (pod: string) => Promise<unknown>) {
  const asked: string[] = []
  let nowMs = 0
  const read = createReportReader({
    kube: {
      async *listPages(_type, { namespace, fieldSelector, limit }) {
        asked.push(`${namespace} ${fieldSelector} ${limit}`)
        const status = await pages(fieldSelector?.split('=')[1] ?? '')
        yield { items: status === undefined ? [] : [{ status } as never], resourceVersion: '1' }
      },
    },
    clock: { monotonicMs: () => nowMs },
  })
  return { asked, read: async (record: Parameters<typeof read>[0]) => await read(record, signal), pass: (ms: number) => (nowMs += ms) }
}

void t.test('one bounded read serves all viewers until the report changes or is 30 seconds old', async (t) => {
  const { asked, read, pass } = reader(async () => ({ phase: 'Synced', message: 'all of it' }))
  const first = report('gw-0', 'line-1')
  matchObject(t, await Promise.all([read(first), read(first)]), [{ message: 'all of it' }, { message: 'all of it' }])
  t.strictSame(asked, ['plant-a metadata.name=gw-0 1'])
  pass(29_999)
  await read(first)
  t.equal(asked.length, 1)
  await read(report('gw-0', 'line-1'))
  t.equal(asked.length, 2, 'the watch has told of another one')
  pass(1)
  await read(first)
  t.equal(asked.length, 3, 'half a minute is over')
})

void t.test('a fifth concurrent read is not sent, and the waiting ones succeed', async (t) => {
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
  matchObject(t, await read(fifth), { phase: 'Synced' }, 'and then there is room')
})

void t.test('a missing, invalid or unreadable report is undefined, and the next read is not blocked', async (t) => {
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

/** A replica that knows a GatewaySync from its watches only. */
function replica(t: Test) {
  const folder = temporaryFolder(t, 'page-contents')
  const repository = makeRepository(path.join(folder, 'repository'))
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const store = new Store(() => {})
  const put = (name: string, spec: object): boolean =>
    store.upsertSync({ namespace: 'plant', name, uid: name, resourceVersion: '1', generation: 1, annotations: {}, spec, status: {} })
  const sync = { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } }
  put('line', { git: { repo: repository.folder, ref: 'main' }, sync })
  put('odd', { git: 7 })
  const syncMirrors = createSyncMirrors(mirrors, async (_namespace, { repo }) => anonymousRemote(repo, { allowLocal: true }))
  return { repository, commits: commitsOfStore({ store, mirrors: syncMirrors, clock: systemClock }) }
}

void t.test('a replica without the commit fetches it when a viewer opens it', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, commits } = replica(t)
  const from = repository.commit({ 'projects/a.txt': 'one\n' })
  const commit = repository.commit({ 'projects/a.txt': 'two\n' }, 'Change the line')
  const key = { namespace: 'plant', name: 'line' }
  const { files } = await commits.changes(key, { from, commit }, signal)
  t.strictSame(
    files.map(({ path, diff }) => [path, diff]),
    [['projects/a.txt', '-one\n+two']],
  )
  matchObject(t, await commits.summary(key, commit, signal), { subject: 'Change the line' })
})

void t.test('nothing is read for a deleted GatewaySync or an invalid spec', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, commits } = replica(t)
  const commit = repository.commit({ 'projects/a.txt': 'one\n' })
  for (const name of ['odd', 'gone']) {
    t.equal(await commits.summary({ namespace: 'plant', name }, commit, signal), undefined, name)
    await rejectsWith(
      t,
      commits.changes({ namespace: 'plant', name }, { from: commit, commit }, signal),
      { message: /spec of the GatewaySync/ },
      name,
    )
  }
})
