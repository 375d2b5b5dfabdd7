/**
 * Request bodies are read completely or rejected.
 */
import fc from 'fast-check'
import t from 'tap'
import { discard, expectedBytes, parseBody, readBody, createBodyBudget, patienceMs, slowAfterMs } from '../../../runtime/http/body.ts'
import { bodyLimits } from '../../../runtime/receiver/limits.ts'
import { createScan } from '../../../runtime/platform/text/json.ts'

const maxBytes = 1024 * 1024
const { complexity } = bodyLimits

/** A request whose body arrives in pieces, with or without a length. */
function requestOf(pieces: readonly Uint8Array[], length?: number): Request {
  const headers: Record<string, string> = length === undefined ? {} : { 'content-length': String(length) }
  return new Request('http://localhost/', { method: 'POST', body: ReadableStream.from(pieces), headers, duplex: 'half' })
}

void t.test('a body is read as sent, for any pieces and any claimed length', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 40_000, size: 'max' }), { maxLength: 12 }),
      fc.option(fc.nat(100_000)),
      async (pieces, claim) => {
        const sent = Buffer.concat(pieces)
        const body = await readBody(requestOf(pieces, claim ?? undefined), maxBytes)
        return body.kind === 'whole' && sent.equals(body.bytes)
      },
    ),
    { numRuns: 40 },
  )
  const full = () => new Uint8Array(maxBytes).fill(7)
  const lengthOf = async (request: Request): Promise<number | string> => {
    const body = await readBody(request, maxBytes)
    return body.kind === 'whole' ? body.bytes.length : body.kind
  }
  t.equal(await lengthOf(requestOf([full()])), maxBytes)
  t.equal(await lengthOf(requestOf([full(), Uint8Array.of(1)])), 'tooLarge')
  t.equal(await lengthOf(requestOf([], maxBytes + 1)), 'tooLarge')
  t.equal(await lengthOf(new Request('http://localhost/', { method: 'POST' })), 0)
})

void t.test('an observer sees every byte once and in order, even of a dropped body, and no piece is retained', async (t) => {
  const pieces = ['{"a":', '1', '}'].map((text) => Uint8Array.from(Buffer.from(text)))
  let seen = ''
  const body = await readBody(requestOf(pieces), maxBytes, (piece) => {
    seen += Buffer.from(piece).toString('utf8')
    return seen.length < 6
  })
  t.strictSame([body.kind, seen], ['dropped', '{"a":1}'])
  t.ok(pieces.every(({ length }) => length === 0))
})

void t.test('a body that is too complex to parse is found for any split into pieces, and no other is', async (t) => {
  const many = (count: number, text: string): string => Array.from({ length: count }, () => text).join(',')
  const rows: [string, string, boolean][] = [
    ['64 levels', '['.repeat(64) + ']'.repeat(64), false],
    ['65 levels', '['.repeat(65) + ']'.repeat(65), true],
    ['20,000 keys', `{${many(20_000, '"a":1')}}`, false],
    ['20,001 keys', `{${many(20_001, '"a":1')}}`, true],
    ['20,000 lists', `[${many(19_999, '[]')}]`, false],
    ['20,001 objects', `[${many(20_000, '{}')}]`, true],
    ['100,000 entries', `[${many(100_000, '1')}]`, false],
    ['100,001 entries', `[${many(100_001, '1')}]`, true],
    ['all of that in a text', JSON.stringify(`\\"${'[{:,'.repeat(120_000)}\\`), false],
  ]
  for (const [name, text, found] of rows) {
    const bytes = Buffer.from(text)
    t.equal(parseBody(bytes, complexity).kind === 'tooComplex', found, name)
    for (const size of [1, 7, 4_096]) {
      const scan = createScan(complexity)
      let last = false
      for (let at = 0; at < bytes.length; at += size) last = scan(bytes.subarray(at, at + size))
      t.equal(last, found, `${name} in pieces of ${size}`)
    }
  }
})

void t.test('a body that has not ended when the signal aborts is cut off', async (t) => {
  const tooSlow = new AbortController()
  let isCanceled = false
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.from('a')),
    cancel: () => void (isCanceled = true),
  })
  const request = new Request('http://localhost/', { method: 'POST', body, duplex: 'half' })
  let pieces = 0
  const select = (): boolean => {
    pieces += 1
    if (pieces === 3) tooSlow.abort(new Error('too slow'))
    return true
  }
  t.strictSame(await readBody(request, maxBytes, select, maxBytes, tooSlow.signal), { kind: 'cutOff' })
  t.equal(isCanceled, true)
  const whole = await readBody(
    requestOf([Buffer.from('ab'), Buffer.from('c')]),
    maxBytes,
    undefined,
    maxBytes,
    new AbortController().signal,
  )
  t.equal(whole.kind === 'whole' && Buffer.from(whole.bytes).toString(), 'abc')
})

void t.test('the expected size never exceeds what is read, and a discarded body is released', async (t) => {
  t.equal(expectedBytes(requestOf([], 10), maxBytes), 10)
  const chunked = new Request('http://localhost/', { method: 'POST', headers: { 'transfer-encoding': 'chunked' } })
  t.equal(expectedBytes(chunked, maxBytes), maxBytes)
  t.equal(expectedBytes(new Request('http://localhost/', { method: 'POST' }), maxBytes), 0)
  t.equal(expectedBytes(requestOf([], maxBytes + 1), maxBytes), 0, 'none of it is read')
  const body = await readBody(requestOf([Buffer.from('secret')]), maxBytes)
  if (body.kind !== 'whole') throw new Error('it is read')
  discard(body.bytes)
  t.equal(body.bytes.length, 0)
})

void t.test('invalid JSON and invalid UTF-8 are rejected with different reasons', async (t) => {
  t.strictSame(parseBody(Buffer.from('{"ref":'), complexity), { kind: 'malformed', why: 'the body is not JSON' })
  t.strictSame(parseBody(Buffer.from(''), complexity), { kind: 'malformed', why: 'the body is not JSON' })
  t.strictSame(parseBody(Buffer.from([0x22, 0xc3, 0x28, 0x22]), complexity), { kind: 'malformed', why: 'the body is not UTF-8' })
  t.strictSame(parseBody(Buffer.from('{"ref":"größe"}'), complexity), { kind: 'json', value: { ref: 'größe' } })
})

const mebibyte = 1024 * 1024
/** Longer than any machine needs. */
const longMs = 600_000
let peers = 0
/** A body from a peer of its own. */
const of = (bytes: number) => ({ bytes, peer: `peer ${(peers += 1)}` })

void t.test('held bodies never exceed the budget, all are served, and small ones do not wait', async (t) => {
  const { hold } = createBodyBudget(4 * mebibyte, longMs)
  let [reservation, most, done] = [0, 0, 0]
  const work = (bytes: number) => async () => {
    reservation += bytes
    most = Math.max(most, reservation)
    await new Promise(setImmediate)
    reservation -= bytes
    done += 1
    return done
  }
  const sizes = Array.from({ length: 50 }, (_, index) => (1 + (index % 3)) * mebibyte)
  const results = await Promise.all(sizes.map((bytes) => hold(of(bytes), work(bytes))))
  t.equal(done, 50)
  t.notOk(results.includes(undefined))
  t.ok(most <= 4 * mebibyte, `${most} bytes at once`)
  t.equal(await hold(of(9 * mebibyte), work(0)), 51, 'more than there is takes all')
  const full = Promise.withResolvers<void>()
  const first = hold(of(4 * mebibyte), () => full.promise)
  t.equal(await hold(of(1_000), async () => 'small'), 'small')
  full.resolve()
  await first
})

void t.test('a failure releases its share; a wait that times out returns undefined and holds nothing', async (t) => {
  const { hold } = createBodyBudget(mebibyte, 20)
  await t.rejects(
    hold(of(mebibyte), async () => {
      throw new Error('went away')
    }),
    /went away/,
  )
  const full = Promise.withResolvers<void>()
  const first = hold(of(mebibyte), () => full.promise)
  // The deadline does not keep the process alive, so the timer does.
  const up = setInterval(() => undefined, 1_000)
  t.equal(await hold(of(mebibyte), async () => 'never'), undefined)
  clearInterval(up)
  full.resolve()
  await first
  t.equal(await hold(of(mebibyte), async () => 'again'), 'again')
})

void t.test('garbage is collected after half of the budget has been released', async (t) => {
  let collected = 0
  const { hold } = createBodyBudget(4 * mebibyte, 1_000, () => (collected += 1))
  for (let index = 0; index < 6; index += 1) await hold(of(mebibyte), async () => undefined)
  t.equal(collected, 3)
  for (let index = 0; index < 100; index += 1) await hold(of(10_000), async () => undefined)
  t.equal(collected, 3, 'small bodies are left to the collector')
})

void t.test('one peer holds no more than its share, and other peers overtake it', async (t) => {
  const { hold } = createBodyBudget(4 * mebibyte, longMs)
  const full = Promise.withResolvers<void>()
  let begun = 0
  const slow = async (): Promise<string> => {
    begun += 1
    await full.promise
    return 'slow'
  }
  const all = Array.from({ length: 6 }, () => hold({ bytes: mebibyte, peer: 'slow' }, slow))
  await new Promise(setImmediate)
  t.equal(begun, 3)
  t.equal(await hold({ bytes: mebibyte, peer: 'other' }, async () => 'other'), 'other')
  full.resolve()
  t.strictSame(new Set(await Promise.all(all)), new Set(['slow']))
  t.equal(begun, 6)
})

void t.test('clients with slow bodies, however many, leave a part to others', async (t) => {
  t.ok(slowAfterMs < patienceMs)
  const { hold } = createBodyBudget(4 * mebibyte, longMs)
  const known = { bytes: mebibyte, peer: 'known' }
  t.equal(await hold(known, async () => 'quick'), 'quick')
  const end = new AbortController()
  const slow = async (signal: AbortSignal = end.signal): Promise<void> => {
    const over = AbortSignal.any([signal, end.signal])
    if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve))
  }
  const all = Array.from({ length: 8 }, () => hold(of(mebibyte), slow))
  // The deadline does not keep the process alive, so the timer does.
  const up = setInterval(() => undefined, 1_000)
  t.equal(await hold(known, async () => 'quick'), 'quick')
  end.abort()
  await Promise.all(all)
  clearInterval(up)
})
