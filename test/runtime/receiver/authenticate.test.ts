/**
 * Tests which calls are authenticated, with the examples that the hosts publish.
 */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { beginAuthentication, gatherKeys, type Keys, keysIn } from '../../../runtime/receiver/authenticate.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { Temporal } from '../../../runtime/platform/temporal.ts'
import { throwsError } from '../../support/assertions.ts'
import { authenticate } from '../../support/authenticate.ts'
import type { Headers } from '../../../runtime/receiver/payload/parts.ts'

const now = Temporal.Instant.fromEpochMilliseconds(1_614_265_330_000)
const bytes = (text: string): Uint8Array => Buffer.from(text)
const outcomeOf = (headers: Headers, body: string, keys: Partial<Keys>, at = now): string =>
  authenticate(headers, bytes(body), { hmac: undefined, tokens: undefined, ...keys }, at).kind

void t.test('the published example of GitHub is authenticated', async (t) => {
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  t.equal(outcomeOf({ 'x-hub-signature-256': signature }, 'Hello, World!', { hmac: ["It's a Secret to Everybody"] }), 'authenticated')
})

/** The test vector shared by the libraries of https://github.com/standard-webhooks/standard-webhooks. */
const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const body = '{"test": 2432232314}'
const published = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}

void t.test('the published Standard Webhooks vector is valid for five minutes, with any of several keys and signatures', async (t) => {
  const { 'webhook-signature': signature } = published
  const rows: [string, Headers, readonly string[], number, string][] = [
    ['as published', published, [key], 0, 'authenticated'],
    ['almost too old', published, [key], 300, 'authenticated'],
    ['almost too new', published, [key], -300, 'authenticated'],
    ['too old', published, [key], 301, 'refused'],
    ['too new', published, [key], -301, 'refused'],
    ['one key of two', published, ['other', key], 0, 'authenticated'],
    ['one signature of two', { ...published, 'webhook-signature': `v1,${'A'.repeat(43)}= v1a,x ${signature}` }, [key], 0, 'authenticated'],
    ['another key', published, ['other'], 0, 'refused'],
    ['another id', { ...published, 'webhook-id': 'msg' }, [key], 0, 'refused'],
    ['no id', { ...published, 'webhook-id': undefined }, [key], 0, 'refused'],
    ['another time', { ...published, 'webhook-timestamp': '1614265331' }, [key], 0, 'refused'],
    ['no number', { ...published, 'webhook-timestamp': '1614265330.0' }, [key], 0, 'refused'],
    ['no time', { ...published, 'webhook-timestamp': undefined }, [key], 0, 'refused'],
    ['another version', { ...published, 'webhook-signature': signature.replace('v1', 'v2') }, [key], 0, 'refused'],
    ['no keys', published, [], 0, 'refused'],
  ]
  for (const [name, headers, hmac, later, kind] of rows)
    t.equal(outcomeOf(headers, body, { hmac }, now.add({ seconds: later })), kind, name)
  t.equal(outcomeOf(published, `${body} `, { hmac: [key] }), 'refused', 'another body')
})

void t.test('a key that is not whsec_ and base64 is used as raw bytes, never as an empty key', async (t) => {
  for (const raw of ['plain secret', 'whsec_', 'whsec_!!!!', 'whsec_=']) {
    const sign = (bytesOfKey: string): Headers => ({
      ...published,
      'webhook-signature': `v1,${createHmac('sha256', bytesOfKey).update(`${published['webhook-id']}.1614265330.${body}`).digest('base64')}`,
    })
    t.equal(outcomeOf(sign(raw), body, { hmac: [raw] }), 'authenticated', raw)
    t.equal(outcomeOf(sign(''), body, { hmac: [raw] }), 'refused', raw)
  }
})

void t.test('a key that cannot be read never leaves the receiver open', async (t) => {
  const fault = new Fault('SecretNotFound', 'Secret plant/webhook does not exist')
  t.equal(outcomeOf({}, '{}', { fault }), 'refused')
  t.equal(outcomeOf({}, '{}', {}), 'open')
  const unread = async (): Promise<never> => await Promise.reject(fault)
  const none = async (): Promise<undefined> => await Promise.resolve(undefined)
  for (const [hmac, tokens] of [
    [unread, none],
    [none, unread],
  ] as const)
    t.equal(outcomeOf({}, '{}', await gatherKeys(hmac, tokens, () => fault)), 'refused')
})

void t.test('a Secret contains up to 16 keys, one per line', async (t) => {
  const lines = (count: number): string[] => Array.from({ length: count }, (_, index) => `key-${index}`)
  t.strictSame(keysIn(`\n${lines(16).join('\r\n\n')}\n`, 'Secret plant/webhook, key hmac'), lines(16))
  throwsError(t, () => keysIn(lines(17).join('\n'), 'Secret plant/webhook, key hmac'), {
    reason: 'AuthNotReady',
    message: 'Secret plant/webhook, key hmac contains 17 keys, one per line; remove old ones: at most 16 are accepted',
  })
  const faultOf = (error: unknown): Fault => error as Fault
  const keys = await gatherKeys(
    async () => keysIn(lines(17).join('\n'), 'the HMAC key'),
    async () => undefined,
    faultOf,
  )
  t.equal(outcomeOf({}, '{}', keys), 'refused', 'and with more the receiver is not open')
})

void t.test('extra text around a signature is refused', async (t) => {
  const mac = createHmac('sha256', 'key').update('{}').digest('hex')
  const rows = { [mac]: 'authenticated', [`${mac}0`]: 'refused', [`0${mac}`]: 'refused', [`${mac},x`]: 'refused', [`x${mac}`]: 'refused' }
  for (const [signature, kind] of Object.entries(rows))
    t.equal(outcomeOf({ 'x-hub-signature-256': signature }, '{}', { hmac: ['key'] }), kind, signature)
})

void t.test('one flipped bit in the body or signature is refused', async () => {
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

void t.test('a body in pieces authenticates exactly as a whole body', async () => {
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
      const authenticator = beginAuthentication(headers, { hmac: ['old', 'key'], tokens: undefined })
      for (const piece of pieces) authenticator.update(piece)
      return (authenticator.end(now).kind === 'authenticated') === (plain === 'key' || standard === 'key')
    }),
  )
})

void t.test('the signature or token header of each host is accepted', async (t) => {
  const mac = createHmac('sha256', 'key').update('{}').digest('hex')
  const keys = { hmac: ['key'], tokens: ['token'] }
  const signed = ['x-gitea-signature', 'x-forgejo-signature', 'x-gogs-signature', 'x-hub-signature', 'x-harness-signature']
  for (const name of signed) {
    t.equal(outcomeOf({ [name]: mac }, '{}', keys), 'authenticated', name)
    t.equal(outcomeOf({ [name]: mac }, '{ }', keys), 'refused', name)
  }
  for (const name of ['x-gitlab-token', 'x-gitee-token']) {
    t.equal(outcomeOf({ [name]: 'token' }, '{}', keys), 'authenticated', name)
    t.equal(outcomeOf({ [name]: 'key' }, '{}', keys), 'refused', `${name}: the HMAC key is no token`)
  }
})

void t.test('a token is accepted as a bearer token, a password or the header of its host, in that form only', async (t) => {
  const basic = (pair: string): string => Buffer.from(pair).toString('base64')
  const rows: [headers: Headers, kind: string][] = [
    [{ authorization: 'Bearer token' }, 'authenticated'],
    [{ authorization: '  bearer   token ' }, 'authenticated'],
    [{ authorization: 'Bearer token x' }, 'refused'],
    [{ authorization: 'x Bearer token' }, 'refused'],
    [{ authorization: 'Bearertoken' }, 'refused'],
    [{ authorization: 'token' }, 'refused'],
    [{ authorization: 'Bearer other' }, 'refused'],
    [{ authorization: `Basic ${basic('user:token')}` }, 'authenticated'],
    [{ authorization: ` basic  ${basic(':token')} ` }, 'authenticated'],
    [{ authorization: `Basic ${basic('user:token:')}` }, 'refused'],
    [{ authorization: `Basic ${basic('token')}` }, 'refused'],
    [{ authorization: `Basic ${basic('token:user')}` }, 'refused'],
    [{ authorization: `x Basic ${basic('user:token')}` }, 'refused'],
    [{ authorization: `Basic ${basic('user:token')} x` }, 'refused'],
    [{ authorization: `Basic ${basic('user:token')}====` }, 'refused'],
    [{ 'x-gitlab-token': 'token ' }, 'refused'],
    [{ 'x-gitlab-token': '' }, 'refused'],
    [{}, 'refused'],
  ]
  for (const tokens of [['token'], ['other key', 'token']])
    for (const [headers, kind] of rows) t.equal(outcomeOf(headers, '{}', { tokens }), kind, JSON.stringify(headers))
  t.equal(outcomeOf({ authorization: `Basic ${basic('user:a:b')}` }, '{}', { tokens: ['a:b'] }), 'authenticated', 'a password with a colon')
  for (const [headers] of rows) t.equal(outcomeOf(headers, '{}', { tokens: [] }), 'refused', 'no token is configured')
  for (const [headers] of rows) t.equal(outcomeOf(headers, '{}', { hmac: ['token'] }), 'refused', 'only HMAC keys are configured')
})

void t.test('the outcome names the method that authenticated the call, a signature before a token', async (t) => {
  const mac = createHmac('sha256', 'key').update('{}').digest('hex')
  const keys = { hmac: ['key'], tokens: ['token'] }
  const [signed, token] = [{ 'x-hub-signature-256': ` SHA256=${mac.toUpperCase()} ` }, { 'x-gitlab-token': 'token' }]
  t.strictSame(authenticate(signed, bytes('{}'), keys, now), { kind: 'authenticated', method: 'hmac' })
  t.strictSame(authenticate({ ...signed, ...token }, bytes('{}'), keys, now), { kind: 'authenticated', method: 'hmac' })
  t.strictSame(authenticate(token, bytes('{}'), keys, now), { kind: 'authenticated', method: 'token' })
  t.strictSame(authenticate(token, bytes('{}'), { hmac: undefined, tokens: undefined }, now), { kind: 'open' })
  const other = { 'x-gitea-signature': '0'.repeat(64) }
  t.strictSame(
    authenticate({ ...other, ...signed }, bytes('{}'), keys, now),
    { kind: 'authenticated', method: 'hmac' },
    'one signature of two',
  )
})

void t.test('each key costs one hash for each kind of signature that the call has, until the hashes are dropped', async (t) => {
  const mac = createHmac('sha256', 'key').update('{}').digest('hex')
  const signed = { 'x-hub-signature-256': mac, 'x-gitea-signature': mac }
  const both = { hmac: ['key', 'old'], tokens: ['token'] }
  const rows: [Headers, Keys, number][] = [
    [{}, both, 0],
    [{ 'x-hub-signature-256': '' }, both, 0],
    [signed, both, 2],
    [published, both, 2],
    [{ ...signed, ...published }, both, 4],
    [signed, { hmac: undefined, tokens: ['token'] }, 0],
    [signed, { hmac: undefined, tokens: undefined }, 0],
    [{ ...published, 'webhook-signature': 'v2,x' }, both, 0],
    [{ ...published, 'webhook-timestamp': '1'.repeat(13) }, both, 0],
    [{ ...published, 'webhook-timestamp': 'x1614265330' }, both, 0],
    [{ ...published, 'webhook-id': '' }, both, 0],
  ]
  for (const [headers, keys, hashes] of rows) t.equal(beginAuthentication(headers, keys).hashes, hashes, JSON.stringify(headers))
  const standardKey = { hmac: [key], tokens: ['token'] }
  for (const [headers, keys, text] of [
    [signed, both, '{}'],
    [published, standardKey, body],
  ] as const) {
    for (const isDropped of [false, true]) {
      for (const token of [{}, { 'x-gitlab-token': 'token' }]) {
        const authenticator = beginAuthentication({ ...headers, ...token }, keys)
        if (isDropped) authenticator.dropHashes()
        authenticator.update(bytes(text))
        const expected = isDropped ? ('x-gitlab-token' in token ? 'token' : undefined) : 'hmac'
        t.strictSame(authenticator.end(now), expected === undefined ? { kind: 'refused' } : { kind: 'authenticated', method: expected })
      }
    }
  }
  const open = beginAuthentication(signed, { hmac: undefined, tokens: undefined })
  open.dropHashes()
  open.update(bytes('{}'))
  t.strictSame(open.end(now), { kind: 'open' })
})

void t.test('a Standard Webhooks call is checked against its first 16 signatures, with keys of any length', async (t) => {
  const { 'webhook-signature': signature } = published
  const among = (before: number): Headers => ({ ...published, 'webhook-signature': `${'v2,x '.repeat(before)}${signature}` })
  t.equal(outcomeOf(among(15), body, { hmac: [key] }), 'authenticated')
  t.equal(outcomeOf(among(16), body, { hmac: [key] }), 'refused')
  for (const text of [`x${signature}`, `${signature}x`, signature.replace('=', '')])
    t.equal(outcomeOf({ ...published, 'webhook-signature': text }, body, { hmac: [key] }), 'refused', text)
  for (const length of [3, 4, 5, 6, 30, 31, 32]) {
    const secret = Buffer.alloc(length, 0xfb)
    const mac = createHmac('sha256', secret).update(`${published['webhook-id']}.1614265330.${body}`).digest('base64')
    const headers = { ...published, 'webhook-signature': `v1,${mac}` }
    t.equal(outcomeOf(headers, body, { hmac: [`whsec_${secret.toString('base64')}`] }), 'authenticated', `${length} bytes`)
    for (const text of [`xwhsec_${secret.toString('base64')}`, `whsec_${secret.toString('base64')}x`])
      t.equal(outcomeOf(headers, body, { hmac: [text] }), 'refused', `another form: ${text}`)
  }
})

void t.test('keys of both methods are gathered, and the fault of one leaves the other', async (t) => {
  const fault = new Fault('SecretNotFound', 'Secret plant/webhook does not exist')
  const [hmac, tokens] = [async () => ['key'], async () => ['token']]
  const unread = async (): Promise<never> => await Promise.reject(new Error('unread'))
  const faultOf = (error: unknown): Fault => (error instanceof Error && error.message === 'unread' ? fault : new Fault('GitFailed', ''))
  t.strictSame(await gatherKeys(hmac, tokens, faultOf), { hmac: ['key'], tokens: ['token'], fault: undefined })
  t.strictSame(await gatherKeys(unread, tokens, faultOf), { hmac: undefined, tokens: ['token'], fault })
  t.strictSame(await gatherKeys(hmac, unread, faultOf), { hmac: ['key'], tokens: undefined, fault })
  t.strictSame(keysIn('a\rb\r\n\n\r\n', 'a Secret'), ['a\rb'], 'only a line end is removed')
})
