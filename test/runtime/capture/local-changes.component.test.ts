/**
 * Local changes are those of the last sync: what the spec says since, which no sync has brought yet, is nobody's change.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { captureChanges } from '../../../runtime/capture/capture.ts'
import { findLocalChanges } from '../../../runtime/capture/local-changes.ts'
import { createCaptureOffers, createQuietOffers } from '../../../runtime/capture/offer.ts'
import { systemClock } from '../../../runtime/clock.ts'
import type { CaptureOffer } from '../../../runtime/delivery/protocol.ts'
import type { ResolvedProfile } from '../../../runtime/gatewaysync/decide/profile.ts'
import { silentLog } from '../../../runtime/log.ts'
import { runCycle } from '../../../runtime/sync/cycle.ts'
import { readManifest } from '../../../runtime/sync/disk/manifest-file.ts'
import { memorySource, profileOf, type Tree, wantedOf } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'

const signal = AbortSignal.timeout(120_000)
const deliveredAnew = /is delivered in another way than by the last sync/

/** A gateway that was synced by one profile; `look` finds its changes by another, as the CLI does and as an agent that is paused. */
async function syncedBy(t: Test, before: ResolvedProfile, tree: Tree) {
  const dataDir = path.join(temporaryFolder(t, 'local-changes'), 'data')
  mkdirSync(dataDir)
  const source = memorySource()
  const commit = source.commit(tree)
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  t.equal((await runCycle(deps, wantedOf(dataDir, commit, before), signal)).phase, 'Synced')
  return {
    dataDir,
    source,
    commit,
    write(file: string, text: string): void {
      mkdirSync(path.dirname(path.join(dataDir, file)), { recursive: true })
      writeFileSync(path.join(dataDir, file), text)
    },
    remove: (file: string): void => rmSync(path.join(dataDir, file)),
    async look(after: ResolvedProfile) {
      const wanted = wantedOf(dataDir, commit, after, { paused: true, syncHash: 'of the changed spec' })
      const found = await findLocalChanges(source, wanted, readManifest(dataDir), signal)
      const { captured, leftOut } = captureChanges(found, wanted, () => false)
      let offer: CaptureOffer | undefined
      const send = async (sent: CaptureOffer): Promise<{ answer: 'done' }> => {
        offer = sent
        return { answer: 'done' }
      }
      await createCaptureOffers()(source, wanted, { request: 'now', uid: 'u' }, send, signal)
      return { captured: captured.map(({ op, source: file }) => `${op} ${file}`), leftOut, offer }
    },
  }
}

void t.test('a mapping that leads to another source since the last sync takes nothing from that one, and nothing to it', async (t) => {
  const tree = {
    'sites/a/x.txt': 'of a',
    'sites/a/only.txt': 'a',
    'sites/b/x.txt': 'of b',
    'sites/b/new.txt': 'b',
    'sites/a/same.txt': 's',
  }
  const [a, b] = ['sites/a', 'sites/b'].map((source) => profileOf([{ source, destination: 'projects/site' }]))
  if (a === undefined || b === undefined) throw new Error('there are two profiles')
  const { write, look } = await syncedBy(t, a, tree)
  t.match(await look(b), { captured: [], leftOut: [], offer: { files: 0, leftOutFiles: 0 } }, 'nobody has changed anything')
  write('projects/site/x.txt', 'repaired')
  t.same((await look(a)).captured, ['changed sites/a/x.txt'])
  t.match(await look(b), {
    captured: [],
    leftOut: [{ path: 'projects/site/x.txt', why: deliveredAnew }],
    offer: { files: 0, leftOut: [{ path: 'projects/site/x.txt', why: deliveredAnew }] },
  })
})

void t.test('files that were excluded at the last sync are not removed, and those that are excluded since are not added', async (t) => {
  const tree = { 'projects/line/a.txt': 'a', 'projects/line/b.log': 'b', 'projects/line/c.log': 'c' }
  const mappings = [{ source: 'projects', destination: 'projects' }]
  const narrow = profileOf(mappings, { excludePatterns: ['**/*.log'] })
  const wide = profileOf(mappings)
  const { write, look } = await syncedBy(t, narrow, tree)
  t.match(await look(wide), { captured: [], leftOut: [], offer: { files: 0, leftOutFiles: 0 } })
  write('projects/line/b.log', 'of the gateway')
  t.match(await look(wide), { captured: [], leftOut: [{ path: 'projects/line/b.log', why: deliveredAnew }] })
  const second = await syncedBy(t, wide, tree)
  second.remove('projects/line/c.log')
  t.same((await second.look(wide)).captured, ['removed projects/line/c.log'], 'what the last sync delivered is removed')
  t.match(await second.look(narrow), { captured: [], leftOut: [], offer: { files: 0 } })
})

void t.test('what the last sync delivered is not new where the spec delivers it no more', async (t) => {
  const tree = { 'projects/line/a.txt': 'a', 'projects/line/b.txt': 'b', 'over/b.txt': 'over' }
  const first = { source: 'projects', destination: 'projects' }
  const { look, write } = await syncedBy(t, profileOf([first, { source: 'over', destination: 'projects/line/over' }]), tree)
  write('projects/line/own.txt', 'new')
  t.match(await look(profileOf([first])), { captured: ['added projects/line/own.txt'], leftOut: [] })
})

void t.test('changes that were left alone are handed on once, until the controller has them, and no sooner', async (t) => {
  const profile = profileOf([{ source: 'gw', destination: 'projects/site' }])
  const { write, remove, dataDir, source, commit } = await syncedBy(t, profile, { 'gw/a.txt': 'a', 'gw/b.txt': 'b' })
  const wanted = wantedOf(dataDir, commit, profile)
  let nowMs = 0
  const sent: CaptureOffer[] = []
  let answer: 'send' | 'later' | 'done' = 'send'
  const offers = createQuietOffers({ clock: { monotonicMs: () => nowMs } })
  const quietMs = 60_000
  const drift = { count: 1, paths: ['projects/site/a.txt'] }
  const look = async (atMs: number, seen: typeof drift | 'none' = drift, subject = 'plant'): Promise<number | undefined> => {
    nowMs = atMs
    const send = async (offer: CaptureOffer) => {
      sent.push(offer)
      return { answer: answer === 'send' && offer.changes !== undefined ? ('later' as const) : answer }
    }
    return await offers(source, wanted, { quietMs, subject, drift: seen === 'none' ? undefined : seen }, send, signal)
  }
  t.equal(await look(0, 'none'), undefined, 'there is no drift')
  write('projects/site/a.txt', 'repaired')
  t.equal(await look(1_000), quietMs)
  write('projects/site/a.txt', 'repaired better')
  t.equal(await look(11_000), 20_000, 'the next look is not due')
  t.equal(await look(31_000), quietMs, 'somebody goes on')
  write('projects/site/new.txt', 'new')
  t.equal(await look(91_000), quietMs, 'a new file, which no drift tells of')
  t.equal(sent.length, 0)
  t.equal(await look(151_000), 5_000)
  t.same(
    sent.map(({ files, changes }) => [files, changes?.map(({ source: file }) => file)]),
    [
      [2, undefined],
      [2, ['gw/a.txt', 'gw/new.txt']],
    ],
  )
  t.match(sent[0]?.request, /^drift-[0-9a-f]{8}$/)
  t.equal(sent[0]?.request, `drift-${sent[0]?.digest.slice(0, 8)}`)
  answer = 'done'
  t.equal(await look(156_000), quietMs / 2)
  t.equal(sent.length, 3)
  t.ok(await look(400_000))
  t.equal(sent.length, 3, 'it is over')
  await look(400_001, drift, 'moved')
  await look(460_001, drift, 'moved')
  t.equal(sent.length, 4, 'but not for another GatewaySync or repository')
  remove('projects/site/new.txt')
  write('projects/site/a.txt', 'a')
  t.equal(await look(500_000, 'none'), undefined)
  write('projects/site/b.txt', 'repaired too')
  const second = { count: 1, paths: ['projects/site/b.txt'] }
  await look(600_000, second)
  await look(660_000, second)
  t.match(sent.at(-1), { files: 1 }, 'other changes are handed on in their turn')
  t.not(sent.at(-1)?.request, sent[0]?.request)
})
