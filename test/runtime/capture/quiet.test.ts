/**
 * When changes that nobody asks for are looked at, and when they are handed on.
 */
import t from 'tap'
import { afterLook, nextLookMs, type Watched } from '../../../runtime/capture/quiet.ts'

const quietMs = 600_000
const minute = 60_000

/** Lives through what a gateway shows in each minute; returns when it was looked at, and when something was handed on. */
function lived(minutes: number, shown: (minute: number) => { digest: string; outside: string }) {
  let watched: Watched | undefined
  const looks: number[] = []
  const handed: string[] = []
  for (let at = 0; at <= minutes; at += 1) {
    const { digest, outside } = shown(at)
    if (at * minute < nextLookMs(watched, outside, quietMs)) continue
    looks.push(at)
    const looked = afterLook(watched, { digest, outside, isNothing: digest === '' }, at * minute, quietMs)
    watched = looked.isQuiet ? { ...looked.watched, isOver: true } : looked.watched
    if (looked.isQuiet) handed.push(`${digest} at ${at}`)
  }
  return { looks, handed }
}

void t.test('changes are handed on once, after they were left alone, with two looks', async (t) => {
  const { looks, handed } = lived(60, () => ({ digest: 'a', outside: 'a' }))
  t.same(handed, ['a at 10'])
  t.same(looks, [0, 10])
})

void t.test('somebody who goes on is waited for; a look is made no more often than twice in the time', async (t) => {
  const { looks, handed } = lived(60, (at) => (at < 23 ? { digest: `${at}`, outside: `${at}` } : { digest: 'end', outside: 'end' }))
  t.same(looks, [0, 5, 10, 15, 20, 25, 35])
  t.same(handed, ['end at 35'])
})

void t.test('a file that is saved again as it was is no change', async (t) => {
  const { handed } = lived(60, (at) => ({ digest: 'a', outside: `${at < 7 ? at : 7}` }))
  t.same(handed, ['a at 10'])
})

void t.test('a change that cannot be told from outside is found at the end, and waited for anew', async (t) => {
  const { handed } = lived(60, (at) => ({ digest: at < 8 ? 'a' : 'b', outside: 'same' }))
  t.same(handed, ['b at 20'])
})

void t.test('after that the next change is handed on in its turn, and what cannot be told from outside within the hour', async (t) => {
  t.same(lived(60, (at) => (at < 30 ? { digest: 'a', outside: 'a' } : { digest: 'b', outside: 'b' })).handed, ['a at 10', 'b at 40'])
  const { looks, handed } = lived(90, (at) => ({ digest: at < 30 ? 'a' : 'b', outside: 'same' }))
  t.same(handed, ['a at 10', 'b at 80'])
  t.same(looks, [0, 10, 70, 80])
})

void t.test('where nothing can be handed on nothing is, and hardly anything is looked at', async (t) => {
  const { looks, handed } = lived(119, () => ({ digest: '', outside: 'same' }))
  t.same(handed, [])
  t.same(looks, [0, 60])
})
