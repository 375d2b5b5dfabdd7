/**
 * Tests when a source resolution runs, what it waits for, and how its result is kept.
 */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { DesiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import { parseRefName } from '../../../../runtime/api/values.ts'
import { hostSlots, type Resolution } from '../../../../runtime/reconcile/source/resolutions.ts'
import { matchObject } from '../../../support/assertions.ts'
import { desired, found, openResolution, setUp } from '../../../support/source-resolutions.ts'

void t.test('a namespace with a thousand waiting resolutions gets no more, and delays no other', async (t) => {
  const { resolutions, answered, stop } = setUp(8, hostSlots)
  const most = hostSlots.perTenant + hostSlots.maxWaiting
  for (let index = 0; index <= most; index += 1)
    resolutions.start(`loud/${index}`, openResolution(`l${index}`, { host: `h${index}.example` }))
  const other = openResolution('o', { host: 'works.example' })
  resolutions.start('quiet/o', other)
  other.answer()
  for (let turns = 0; turns < 100 && answered.length < 2; turns += 1) await turn()
  t.strictSame(new Set(answered), new Set([`loud/${most}`, 'quiet/o']))
  matchObject(t, resolutions.last(`loud/${most}`), { fault: { reason: 'TooManyRequests' } })
  stop.abort()
  await resolutions.settled()
})

void t.test('a result is kept until a reconcile has handled it', async (t) => {
  const { resolutions, answered } = setUp()
  const resolution = openResolution('q')
  resolutions.start('plant/a', resolution)
  t.equal(resolutions.isRunning('plant/a', resolution), true)
  t.strictSame(resolutions.resolving('plant', 'plant'), ['plant/a'])
  t.strictSame([...resolutions.resolving('plan', 'plant'), ...resolutions.resolving('plant', 'other')], [])
  resolution.answer()
  while (answered.length === 0) await turn()
  const answer = resolutions.result('plant/a')
  t.strictSame(answer, { specKey: 'plant.git', desired, source: found })
  if (answer !== undefined) resolutions.done('plant/a', answer)
  t.equal(resolutions.result('plant/a'), undefined)
  matchObject(t, resolutions.last('plant/a'), { resolutionKey: 'q', failures: 0, fault: undefined })
})

void t.test('a git host that hangs delays only its own resource', async (t) => {
  const { resolutions, answered, stop } = setUp(2)
  resolutions.start('plant/hangs', openResolution('h'))
  const other = openResolution('o')
  resolutions.start('plant/other', other)
  other.answer()
  while (answered.length === 0) await turn()
  t.strictSame(answered, ['plant/other'])
  stop.abort()
  await resolutions.settled()
})

void t.test('a git host that hangs does not delay other hosts, however many resources use it', async (t) => {
  const { resolutions, answered, stop } = setUp(4, { reserve: 1, perTenant: 2 })
  const hanging = Array.from({ length: 20 }, (_, index) => openResolution(`h${index}`, { host: 'hangs.example' }))
  for (const [index, resolution] of hanging.entries()) resolutions.start(`plant/${index}`, resolution)
  const others = [openResolution('o1', { host: 'works.example' }), openResolution('o2', { host: 'works.example' })]
  for (const [index, other] of others.entries()) {
    resolutions.start(`other/${index}`, other)
    other.answer()
  }
  for (let turns = 0; turns < 100 && answered.length < 2; turns += 1) await turn()
  t.strictSame(answered, ['other/0', 'other/1'])
  t.equal(hanging.filter((resolution) => resolution.asked()).length, 2, 'the share of their namespace')
  stop.abort()
  await resolutions.settled()
})

void t.test('concurrency is limited, and each source resolution gets its turn', async (t) => {
  const { resolutions, answered } = setUp(1)
  const [first, second] = [openResolution('1'), openResolution('2')]
  resolutions.start('plant/a', first)
  resolutions.start('plant/b', second)
  await turn()
  t.strictSame([first.asked(), second.asked()], [true, false])
  first.answer()
  while (!second.asked()) await turn()
  second.answer()
  while (answered.length < 2) await turn()
  t.strictSame(answered, ['plant/a', 'plant/b'])
})

void t.test('a new source resolution cancels the running one, whose result is discarded', async (t) => {
  const { resolutions, answered } = setUp()
  resolutions.start('plant/a', openResolution('old'))
  const fresh = openResolution('new')
  resolutions.start('plant/a', fresh)
  t.equal(resolutions.isRunning('plant/a', { resolutionKey: 'old', desired }), false)
  fresh.answer()
  while (answered.length === 0) await turn()
  t.equal(resolutions.last('plant/a')?.resolutionKey, 'new')
  await resolutions.settled()
  t.strictSame(answered, ['plant/a'])
})

void t.test('a request does not wait for a poll of its ref, but shares the resolution of another request', async (t) => {
  const { resolutions, stop } = setUp()
  const of = (id: string): DesiredRef => {
    const request = { id, ref: parseRefName('main'), specRef: 'main', by: undefined, at: undefined }
    return { ...desired, request, undecided: true }
  }
  resolutions.start('plant/a', openResolution('q'))
  t.equal(resolutions.isRunning('plant/a', { resolutionKey: 'q', desired: of('r1') }), false)
  resolutions.start('plant/a', openResolution('q', { desired: of('r1') }))
  t.equal(resolutions.isRunning('plant/a', { resolutionKey: 'q', desired: of('r2') }), true)
  t.equal(resolutions.isRunning('plant/a', { resolutionKey: 'another ref', desired: of('r2') }), false)
  stop.abort()
  await resolutions.settled()
})

void t.test('failures are counted until a success', async (t) => {
  const { resolutions, answered } = setUp()
  const failing = {
    specKey: 's',
    host: 'h',
    repository: 'plant',
    resolutionKey: 'q',
    sharingKey: 'q',
    why: 'poll' as const,
    desired,
    run: () => Promise.reject(new Fault('GitTimeout', 'slow')),
  }
  for (let i = 1; i <= 2; i++) {
    resolutions.start('plant/a', failing)
    while (answered.length < i) await turn()
    matchObject(t, resolutions.last('plant/a'), { failures: i, fault: { reason: 'GitTimeout' } })
  }
  matchObject(t, resolutions.result('plant/a'), { source: { kind: 'fault' } })
  resolutions.start('plant/a', {
    specKey: 's',
    host: 'h',
    repository: 'plant',
    resolutionKey: 'q',
    sharingKey: 'q',
    why: 'poll' as const,
    desired,
    run: async () => found,
  })
  while (answered.length < 3) await turn()
  matchObject(t, resolutions.last('plant/a'), { failures: 0 })
  resolutions.forget('plant/a')
  t.equal(resolutions.last('plant/a'), undefined)
})

void t.test('failures are counted per source: after a change the first retry wait is short again', async (t) => {
  const { resolutions, answered } = setUp()
  const failing = (text: string): Resolution => ({
    ...openResolution(text),
    async run() {
      throw new Fault('GitTimeout', 'slow')
    },
  })
  for (const [index, text] of ['old', 'old', 'new', 'new'].entries()) {
    resolutions.start('plant/a', failing(text))
    while (answered.length <= index) await turn()
    t.equal(resolutions.last('plant/a')?.failures, 1 + (index % 2), text)
  }
})
