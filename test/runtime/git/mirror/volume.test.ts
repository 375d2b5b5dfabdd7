import t from 'tap'
import { Volume, type Reservation } from '../../../../runtime/git/mirror/volume.ts'
import { rejectsWith } from '../../../support/assertions.ts'

const mebibyte = 1024 * 1024

/** A volume of empty mirrors, each of one namespace. */
function setUp() {
  const volume = new Volume({ maxBytes: 1024 * mebibyte, maxPackBytes: 512 * mebibyte, nowMs: () => 0 })
  const tenant = { measure: () => 0, packs: () => 0, tidyIfIdle: async () => false, dropIfIdle: async () => false }
  return async (key: string, namespace: string, size: 'usual' | 'most' = 'usual'): Promise<Reservation> => {
    volume.use(key, tenant, namespace)
    return await volume.reserve(key, namespace, size)
  }
}

/** Reserves for one mirror after the other until the volume refuses. */
async function reserveAll(reserve: ReturnType<typeof setUp>, namespace: string): Promise<Reservation[]> {
  const held: Reservation[] = []
  for (;;) {
    const reservation = await reserve(`${namespace}-${held.length}`, namespace).catch(() => undefined)
    if (reservation === undefined) return held
    held.push(reservation)
  }
}

void t.test('the fetches of one namespace leave room for a small repository of another', async (t) => {
  const reserve = setUp()
  const [first] = await reserveAll(reserve, 'loud')
  const small = await reserve('small', 'quiet')
  t.equal(small.maxPackBytes, 64 * mebibyte)
  await rejectsWith(t, reserve('more', 'loud'), { reason: 'SourceVolumeFull' })
  small.release()
  first?.release()
  first?.release()
  t.equal((await reserve('more', 'loud')).maxPackBytes, 64 * mebibyte, 'a space is released once')
  await rejectsWith(t, reserve('still more', 'loud'), { reason: 'SourceVolumeFull' })
})

void t.test('a namespace within its share may use the last space', async (t) => {
  const reserve = setUp()
  await reserve('large', 'loud', 'most')
  t.equal((await reserve('m', 'quiet', 'most')).maxPackBytes, 512 * mebibyte)
})

void t.test('who needs no space to be made is not delayed by repacks for another, which end after a while', async (t) => {
  const volume = new Volume({ maxBytes: 1024 * mebibyte, maxPackBytes: 512 * mebibyte, nowMs: () => 0 })
  const { promise: tidying, resolve: began } = Promise.withResolvers<AbortSignal>()
  const { promise: tidied, resolve: end } = Promise.withResolvers<boolean>()
  const tenant = { measure: () => 0, packs: () => 0, tidyIfIdle: async () => false, dropIfIdle: async () => false }
  const large = {
    ...tenant,
    measure: () => 450 * mebibyte,
    packs: () => 2,
    async tidyIfIdle(signal: AbortSignal) {
      began(signal)
      return await tidied
    },
  }
  volume.use('large', large, 'loud')
  for (const key of ['more', 'small', 'other']) volume.use(key, tenant, key === 'more' ? 'loud' : 'quiet')
  const first = await volume.reserve('other', 'quiet', 'usual')
  const waiting = volume.reserve('more', 'loud', 'most')
  const signal = await tidying
  t.equal((await volume.reserve('small', 'quiet', 'usual')).maxPackBytes, 64 * mebibyte)
  first.release()
  t.equal(signal.aborted, false)
  end(true)
  await rejectsWith(t, waiting, { reason: 'SourceVolumeFull' })
})
