/**
 * When unrequested changes are checked and when they are uploaded.
 */
import t from 'tap'
import { afterCheck, nextCheckMs, type Watched } from '../../../../runtime/capture/submit/upload.ts'

const quietMs = 600_000
const minute = 60_000

/** Simulates a gateway minute by minute. Returns when it was checked and when changes were uploaded. */
function lived(minutes: number, shown: (minute: number) => { digest: string; outside: string }) {
  let watched: Watched | undefined
  const looks: number[] = []
  const handed: string[] = []
  for (let at = 0; at <= minutes; at += 1) {
    const { digest, outside } = shown(at)
    if (at * minute < nextCheckMs(watched, outside, quietMs)) continue
    looks.push(at)
    const looked = afterCheck(watched, { digest, outside, isNothing: digest === '' }, at * minute, quietMs)
    watched = looked.isQuiet ? { ...looked.watched, isOver: true } : looked.watched
    if (looked.isQuiet) handed.push(`${digest} at ${at}`)
  }
  return { looks, handed }
}

void t.test('changes are uploaded once after the quiet period, with two checks', async (t) => {
  const { looks, handed } = lived(60, () => ({ digest: 'a', outside: 'a' }))
  t.strictSame(handed, ['a at 10'])
  t.strictSame(looks, [0, 10])
})

void t.test('further edits postpone the upload; checks run at most twice per quiet period', async (t) => {
  const { looks, handed } = lived(60, (at) => (at < 23 ? { digest: `${at}`, outside: `${at}` } : { digest: 'end', outside: 'end' }))
  t.strictSame(looks, [0, 5, 10, 15, 20, 25, 35])
  t.strictSame(handed, ['end at 35'])
})

void t.test('saving a file again without changes does not postpone the upload', async (t) => {
  const { handed } = lived(60, (at) => ({ digest: 'a', outside: `${at < 7 ? at : 7}` }))
  t.strictSame(handed, ['a at 10'])
})

void t.test('a change that is not visible from outside is found at the end of the quiet period, which restarts', async (t) => {
  const { handed } = lived(60, (at) => ({ digest: at < 8 ? 'a' : 'b', outside: 'same' }))
  t.strictSame(handed, ['b at 20'])
})

void t.test('a later change is uploaded after its own quiet period, or within the hour if not visible from outside', async (t) => {
  t.strictSame(lived(60, (at) => (at < 30 ? { digest: 'a', outside: 'a' } : { digest: 'b', outside: 'b' })).handed, ['a at 10', 'b at 40'])
  const { looks, handed } = lived(90, (at) => ({ digest: at < 30 ? 'a' : 'b', outside: 'same' }))
  t.strictSame(handed, ['a at 10', 'b at 80'])
  t.strictSame(looks, [0, 10, 70, 80])
})

void t.test('without changes nothing is uploaded, and a check runs once per hour', async (t) => {
  const { looks, handed } = lived(119, () => ({ digest: '', outside: 'same' }))
  t.strictSame(handed, [])
  t.strictSame(looks, [0, 60])
})
