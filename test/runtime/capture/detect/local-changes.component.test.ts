/**
 * Local changes are relative to the last sync: a difference that comes from a newer, unapplied spec is not a local change.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { captureChanges } from '../../../../runtime/capture/detect/edits.ts'
import { findLocalChanges } from '../../../../runtime/capture/detect/local-changes.ts'
import { createCaptureUpload, createQuietUpload } from '../../../../runtime/capture/submit/upload.ts'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { CaptureOffer } from '../../../../runtime/content/protocol/protocol.ts'
import type { ResolvedProfile } from '../../../../runtime/api/schema/profile.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { runCycle } from '../../../../runtime/sync/cycle.ts'
import { readManifest } from '../../../../runtime/sync/disk/manifest-file.ts'
import { matchObject } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const signal = AbortSignal.timeout(120_000)
const deliveredDifferently = /is mapped differently since the last sync/

/** A gateway synced with one profile. `look` finds its changes under another profile, as the CLI and a paused agent do. */
async function syncedBy(t: Test, before: ResolvedProfile, tree: Tree) {
  const dataDir = path.join(temporaryFolder(t, 'local-changes'), 'data')
  mkdirSync(dataDir)
  const source = memorySource()
  const commit = source.commit(tree)
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  t.equal((await runCycle(deps, desiredOf(dataDir, commit, before), signal)).phase, 'Synced')
  return {
    dataDir,
    source,
    commit,
    write(file: string, text: string): void {
      mkdirSync(path.dirname(path.join(dataDir, file)), { recursive: true })
      writeFileSync(path.join(dataDir, file), text)
    },
    remove: (file: string): void => rmSync(path.join(dataDir, file)),
    async poll(after: ResolvedProfile) {
      const target = desiredOf(dataDir, commit, after, { paused: true, syncHash: 'of the changed spec' })
      const found = await findLocalChanges(source, target, readManifest(dataDir), signal)
      const { captured, skipped } = captureChanges(found, target, () => false)
      let offer: CaptureOffer | undefined
      const send = async (sent: CaptureOffer): Promise<{ answer: 'done' }> => {
        offer = sent
        return { answer: 'done' }
      }
      await createCaptureUpload()(source, target, { request: 'now', uid: 'u' }, send, signal)
      return { captured: captured.map(({ op, source: file }) => `${op} ${file}`), skipped, offer }
    },
  }
}

void t.test('a mapping that changed its source since the last sync changes neither the old nor the new source', async (t) => {
  const tree = {
    'sites/a/x.txt': 'of a',
    'sites/a/only.txt': 'a',
    'sites/b/x.txt': 'of b',
    'sites/b/new.txt': 'b',
    'sites/a/same.txt': 's',
  }
  const [a, b] = ['sites/a', 'sites/b'].map((source) => profileOf([{ source, destination: 'projects/site' }]))
  if (a === undefined || b === undefined) throw new Error('there are two profiles')
  const { write, poll } = await syncedBy(t, a, tree)
  matchObject(t, await poll(b), { captured: [], skipped: [], offer: { files: 0, skippedFiles: 0 } }, 'nothing has changed')
  write('projects/site/x.txt', 'repaired')
  t.strictSame((await poll(a)).captured, ['changed sites/a/x.txt'])
  matchObject(t, await poll(b), {
    captured: [],
    skipped: [{ path: 'projects/site/x.txt', message: deliveredDifferently }],
    offer: { files: 0, skipped: [{ path: 'projects/site/x.txt', message: deliveredDifferently }] },
  })
})

void t.test('files excluded at the last sync are not removed, and files excluded since then are not added', async (t) => {
  const tree = { 'projects/line/a.txt': 'a', 'projects/line/b.log': 'b', 'projects/line/c.log': 'c' }
  const mappings = [{ source: 'projects', destination: 'projects' }]
  const narrow = profileOf(mappings, { excludePatterns: ['**/*.log'] })
  const wide = profileOf(mappings)
  const { write, poll } = await syncedBy(t, narrow, tree)
  matchObject(t, await poll(wide), { captured: [], skipped: [], offer: { files: 0, skippedFiles: 0 } })
  write('projects/line/b.log', 'of the gateway')
  matchObject(t, await poll(wide), { captured: [], skipped: [{ path: 'projects/line/b.log', message: deliveredDifferently }] })
  const second = await syncedBy(t, wide, tree)
  second.remove('projects/line/c.log')
  t.strictSame((await second.poll(wide)).captured, ['removed projects/line/c.log'], 'what the last sync delivered is removed')
  matchObject(t, await second.poll(narrow), { captured: [], skipped: [], offer: { files: 0 } })
})

void t.test('delivered files are not captured as new when the spec no longer delivers them', async (t) => {
  const tree = { 'projects/line/a.txt': 'a', 'projects/line/b.txt': 'b', 'over/b.txt': 'over' }
  const first = { source: 'projects', destination: 'projects' }
  const { poll, write } = await syncedBy(t, profileOf([first, { source: 'over', destination: 'projects/line/over' }]), tree)
  write('projects/line/own.txt', 'new')
  matchObject(t, await poll(profileOf([first])), { captured: ['added projects/line/own.txt'], skipped: [] })
})

void t.test('changes are uploaded once after a quiet period, and retried until the controller has them', async (t) => {
  const profile = profileOf([{ source: 'gw', destination: 'projects/site' }])
  const { write, remove, dataDir, source, commit } = await syncedBy(t, profile, { 'gw/a.txt': 'a', 'gw/b.txt': 'b' })
  const target = desiredOf(dataDir, commit, profile)
  let nowMs = 0
  const sent: CaptureOffer[] = []
  let answer: 'send' | 'later' | 'done' = 'send'
  const offers = createQuietUpload({ clock: { monotonicMs: () => nowMs } })
  const quietMs = 60_000
  const drift = { count: 1, paths: ['projects/site/a.txt'] }
  const poll = async (atMs: number, seen: typeof drift | 'none' = drift, subject = 'plant'): Promise<number | undefined> => {
    nowMs = atMs
    const send = async (offer: CaptureOffer) => {
      sent.push(offer)
      return { answer: answer === 'send' && offer.changes !== undefined ? ('later' as const) : answer }
    }
    return await offers(source, target, { quietMs, subject, drift: seen === 'none' ? undefined : seen }, send, signal)
  }
  t.equal(await poll(0, 'none'), undefined, 'there is no drift')
  write('projects/site/a.txt', 'repaired')
  t.equal(await poll(1_000), quietMs)
  write('projects/site/a.txt', 'repaired better')
  t.equal(await poll(11_000), 20_000, 'the next look is not due')
  t.equal(await poll(31_000), quietMs, 'the changes continue')
  write('projects/site/new.txt', 'new')
  t.equal(await poll(91_000), quietMs, 'a new file, which is no drift')
  t.equal(sent.length, 0)
  t.equal(await poll(151_000), 5_000)
  t.strictSame(
    sent.map(({ files, changes }) => [files, changes?.map(({ source: file }) => file)]),
    [
      [2, undefined],
      [2, ['gw/a.txt', 'gw/new.txt']],
    ],
  )
  t.match(sent[0]?.request, /^drift-[0-9a-f]{8}$/)
  t.equal(sent[0]?.request, `drift-${sent[0]?.digest.slice(0, 8)}`)
  answer = 'done'
  t.equal(await poll(156_000), quietMs / 2)
  t.equal(sent.length, 3)
  t.ok(await poll(400_000))
  t.equal(sent.length, 3, 'it is over')
  await poll(400_001, drift, 'moved')
  await poll(460_001, drift, 'moved')
  t.equal(sent.length, 4, 'but not for another GatewaySync or repository')
  remove('projects/site/new.txt')
  write('projects/site/a.txt', 'a')
  t.equal(await poll(500_000, 'none'), undefined)
  write('projects/site/b.txt', 'repaired too')
  const second = { count: 1, paths: ['projects/site/b.txt'] }
  await poll(600_000, second)
  await poll(660_000, second)
  matchObject(t, sent.at(-1), { files: 1 }, 'other changes are handed on in their turn')
  t.not(sent.at(-1)?.request, sent[0]?.request)
})
