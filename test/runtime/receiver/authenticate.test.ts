/**
 * Which calls prove that they may push, held against what the hosts publish.
 */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { authenticate, beginProving, type Keys } from '../../../runtime/receiver/prove/authenticate.ts'
import type { Headers } from '../../../runtime/receiver/payload/headers.ts'

const now = Temporal.Instant.fromEpochMilliseconds(1_614_265_330_000)
const bytes = (text: string): Uint8Array => Buffer.from(text)
const judge = (headers: Headers, body: string, keys: Partial<Keys>, at = now): string =>
  authenticate(headers, bytes(body), { hmac: undefined, tokens: undefined, ...keys }, at).kind

void t.test("GitHub's published example is proved", async (t) => {
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  t.equal(judge({ 'x-hub-signature-256': signature }, 'Hello, World!', { hmac: ["It's a Secret to Everybody"] }), 'proved')
})

/** https://github.com/standard-webhooks/standard-webhooks, the vector that its libraries share. */
const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const body = '{"test": 2432232314}'
const published = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

void t.test("Standard Webhooks' published vector is proved within five minutes, by any of several keys and signatures", async (t) => {
  const { 'webhook-signature': signature } = published
  const rows: [string, Headers, readonly string[], number, string][] = [
    ['as published', published, [key], 0, 'proved'],
    ['almost too old', published, [key], 300, 'proved'],
    ['almost too new', published, [key], -300, 'proved'],
    ['too old', published, [key], 301, 'refused'],
    ['too new', published, [key], -301, 'refused'],
    ['one key of two', published, ['other', key], 0, 'proved'],
    ['one signature of two', { ...published, 'webhook-signature': `v1,${'A'.repeat(43)}= v1a,x ${signature}` }, [key], 0, 'proved'],
    ['another key', published, ['other'], 0, 'refused'],
    ['another id', { ...published, 'webhook-id': 'msg' }, [key], 0, 'refused'],
    ['no id', { ...published, 'webhook-id': undefined }, [key], 0, 'refused'],
    ['another time', { ...published, 'webhook-timestamp': '1614265331' }, [key], 0, 'refused'],
    ['no number', { ...published, 'webhook-timestamp': '1614265330.0' }, [key], 0, 'refused'],
    ['no time', { ...published, 'webhook-timestamp': undefined }, [key], 0, 'refused'],
    ['another version', { ...published, 'webhook-signature': signature.replace('v1', 'v2') }, [key], 0, 'refused'],
    ['no keys', published, [], 0, 'refused'],
  ]
  for (const [name, headers, hmac, later, kind] of rows) t.equal(judge(headers, body, { hmac }, now.add({ seconds: later })), kind, name)
  t.equal(judge(published, `${body} `, { hmac: [key] }), 'refused', 'another body')
})

void t.test('a key that is not whsec_ and base64 is its own bytes, never an empty one', async (t) => {
  for (const raw of ['plain secret', 'whsec_', 'whsec_!!!!', 'whsec_=']) {
    const sign = (bytesOfKey: string): Headers => ({
      ...published,
      'webhook-signature': `v1,${createHmac('sha256', bytesOfKey).update(`${published['webhook-id']}.1614265330.${body}`).digest('base64')}`,
    })
    t.equal(judge(sign(raw), body, { hmac: [raw] }), 'proved', raw)
    t.equal(judge(sign(''), body, { hmac: [raw] }), 'refused', raw)
  }
})

void t.test('one flipped bit of the body or of the signature is refused', async () => {
  const hmac = ['key']
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), fc.boolean(), (given, at, inBody) => {
      const mac = createHmac('sha256', 'key').update(given).digest()
      const flipped = Uint8Array.from(inBody ? given : mac)
      const index = Math.floor(at / 8) % flipped.length
      flipped[index] = (flipped[index] ?? 0) ^ (1 << (at % 8))
      const [sent, signature] = inBody ? [flipped, mac] : [given, Buffer.from(flipped)]
      const headers = { 'x-hub-signature-256': `sha256=${signature.toString('hex')}` }
      return authenticate(headers, sent, { hmac, tokens: undefined }, now).kind === 'refused'
    }),
    { numRuns: 500 },
  )
})

void t.test('a body that comes in pieces proves what it proves as a whole', async () => {
  const signs = fc.constantFrom('key', 'other')
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 6 }), signs, signs, (pieces, plain, standard) => {
      const whole = Buffer.concat(pieces)
      const [id, time] = ['msg', String(Math.floor(now.epochMilliseconds / 1000))]
      const mac = createHmac('sha256', standard).update(`${id}.${time}.`).update(whole).digest('base64')
      const headers = {
        'x-hub-signature-256': `sha256=${createHmac('sha256', plain).update(whole).digest('hex')}`,
        'webhook-id': id,
        'webhook-timestamp': time,
        'webhook-signature': `v1,${mac}`,
      }
      const proving = beginProving(headers, { hmac: ['old', 'key'], tokens: undefined })
      for (const piece of pieces) proving.update(piece)
      return (proving.end(now).kind === 'proved') === (plain === 'key' || standard === 'key')
    }),
  )
})

void t.test('each host is believed by the header that it sends', async (t) => {
  const mac = createHmac('sha256', 'key').update('{}').digest('hex')
  const keys = { hmac: ['key'], tokens: ['token'] }
  const signed = ['x-gitea-signature', 'x-forgejo-signature', 'x-gogs-signature', 'x-hub-signature', 'x-harness-signature']
  for (const name of signed) {
    t.equal(judge({ [name]: mac }, '{}', keys), 'proved', name)
    t.equal(judge({ [name]: mac }, '{ }', keys), 'refused', name)
  }
  for (const name of ['x-gitlab-token', 'x-gitee-token']) {
    t.equal(judge({ [name]: 'token' }, '{}', keys), 'proved', name)
    t.equal(judge({ [name]: 'key' }, '{}', keys), 'refused', `${name}: the HMAC key is no token`)
  }
})
