/**
 * Unauthenticated callers learn nothing from the webhook receiver and are rate limited.
 */
import { createHmac } from 'node:crypto'
import * as http from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { Fault } from '../../runtime/platform/fault.ts'
import type { Keys } from '../../runtime/receiver/authenticate.ts'
import { matchObject } from '../support/assertions.ts'
import { serveReceiver } from '../support/receiver-app.ts'

const fault = new Fault('AuthNotReady', 'Secret plant/keys has no key token')

void t.test('a GatewaySync with a missing key of its own answers like an unknown one and notifies its owner', async (t) => {
  const notices: string[] = []
  const { post } = await serveReceiver(t, {
    more: {
      notify: (namespace, name, notice) => notices.push(`${namespace}/${name} ${notice}`),
      keys: async (_namespace, name) =>
        name === 'plant' ? { hmac: undefined, tokens: undefined, fault } : { hmac: ['key'], tokens: undefined },
    },
  })
  const answer = await post('{"ref":"main"}')
  t.equal(answer.status, 401)
  t.strictSame(answer, await post('{"ref":"main"}', {}, '/webhook/default/none'))
  t.strictSame(notices, ['default/plant AuthNotReady'])
})

void t.test('a missing installation key is reported alike for every GatewaySync', async (t) => {
  const { post } = await serveReceiver(t, {
    more: {
      keys: async (_namespace, name) =>
        name === 'plant'
          ? { hmac: ['key'], tokens: undefined, installationFault: fault }
          : { hmac: undefined, tokens: undefined, fault, installationFault: fault },
    },
  })
  const answer = await post('{"ref":"main"}')
  matchObject(t, answer, { status: 503, body: { reason: 'AuthNotReady' } })
  t.strictSame(answer, await post('{"ref":"main"}', {}, '/webhook/default/none'))
})

void t.test('a GatewaySync with a key answers like an unknown one when others have none', async (t) => {
  const { post } = await serveReceiver(t, {
    more: { keys: async (_namespace, name) => ({ hmac: name === 'plant' ? ['key'] : undefined, tokens: undefined }) },
  })
  const answer = await post('{"ref":"main"}')
  t.equal(answer.status, 401)
  t.strictSame(answer, await post('{"ref":"main"}', {}, '/webhook/default/none'))
})

void t.test('the body limit reveals no GatewaySync: unauthenticated callers get the same answer for every name', async (t) => {
  const rows: [string, Keys, Keys][] = [
    ['a token of its own', { hmac: undefined, tokens: ['own'] }, { hmac: ['key'], tokens: undefined }],
    ['a key of its own', { hmac: ['own'], tokens: undefined }, { hmac: undefined, tokens: ['token'] }],
    ['many keys', { hmac: ['a', 'b', 'c', 'd', 'e'], tokens: undefined }, { hmac: ['key'], tokens: undefined }],
    ['a key where others need none', { hmac: ['own'], tokens: undefined }, { hmac: undefined, tokens: undefined }],
  ]
  const body = JSON.stringify({ ref: 'main', commits: ['x'.repeat(2_000_000)] })
  const signature = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }
  for (const [label, own, others] of rows) {
    const { post } = await serveReceiver(t, { more: { keys: async (_namespace, name) => (name === 'plant' ? own : others) } })
    for (const headers of [{}, signature, { authorization: 'Bearer wrong' }] as Record<string, string>[])
      for (const [sent, status] of [
        [body, 401],
        [JSON.stringify({ ref: 'x'.repeat(1_100_000) }), 413],
      ] as const) {
        const answer = await post(sent, headers)
        t.equal(answer.status, status, `${label}, ${JSON.stringify(headers)}`)
        t.strictSame(answer, await post(sent, headers, '/webhook/default/none'), `${label}, ${JSON.stringify(headers)}`)
      }
  }
})

void t.test('a signed body replayed as a form requests nothing', async (t) => {
  const { post, requests } = await serveReceiver(t)
  const payload = encodeURIComponent('{"ref":"v0.0.1-evil"}')
  const body = JSON.stringify({ ref: 'refs/heads/other', before: 'a', after: 'b', message: `fix &payload=${payload}&` })
  const signature = `sha256=${createHmac('sha256', 'key').update(body).digest('hex')}`
  const headers = { 'x-hub-signature-256': signature, 'content-type': 'application/x-www-form-urlencoded' }
  matchObject(t, await post(body, headers), { status: 400, body: { reason: 'PayloadMalformed' } })
  for (const form of [`payload=${payload}&x=1`, `x=1&payload=${payload}`, `Payload=${payload}`]) {
    const mac = createHmac('sha256', 'key').update(form).digest('hex')
    t.equal((await post(form, { ...headers, 'x-hub-signature-256': `sha256=${mac}` })).status, 400, form)
  }
  const form = `payload=${encodeURIComponent('{"ref":"main"}')}`
  const mac = createHmac('sha256', 'key').update(form).digest('hex')
  t.equal((await post(form, { 'x-hub-signature-256': `sha256=${mac}` })).status, 400, 'nor a form as JSON')
  t.equal(requests.length, 0)
  t.equal((await post(form, { ...headers, 'x-hub-signature-256': `sha256=${mac}` })).status, 202)
})

void t.test('a path is matched as received, without decoding or normalization', async (t) => {
  const { served, requests } = await serveReceiver(t)
  for (const path of [
    '/webhook/x/%2e%2e/default/plant',
    '/webhook/x/../default/plant',
    '/other/..%2fwebhook/default/plant',
    '/webhook\\default\\plant',
  ]) {
    t.ok([400, 404].includes(await statusOf(served.port, path)), path)
  }
  t.equal(requests.length, 0)
  t.equal(await statusOf(served.port, '/webhook/default/plant?from=host'), 202)
})

void t.test('HEAD and a deletion without hashes request nothing', async (t) => {
  const { post, requests, bearer } = await serveReceiver(t, { target: { desiredRef: 'HEAD' } })
  const rows: [object, string][] = [
    [{ ref: 'HEAD' }, 'UnusableRef'],
    [{ ref: 'refs/heads/HEAD', before: 'a'.repeat(40), after: 'b'.repeat(40) }, 'UnusableRef'],
    [{ ref: 'main', deleted: true }, 'Deletion'],
    [{ ref: 'main', after: '0'.repeat(40) }, 'Deletion'],
  ]
  for (const [body, reason] of rows) matchObject(t, await post(JSON.stringify(body), bearer), { body: { accepted: false, reason } }, reason)
  t.equal(requests.length, 0)
})

void t.test('failed calls count against their peer only', async (t) => {
  const { served, post, bearer, requests } = await serveReceiver(t, { more: { limits: { failuresPerPeer: 3 } } })
  const wrong: Record<string, (localAddress: string) => Promise<number>> = {
    'another path': async (localAddress) => await callFrom(served.port, localAddress, { path: '/wp-login.php' }),
    'another method': async (localAddress) => await callFrom(served.port, localAddress, { method: 'GET' }),
    'no proof': async (localAddress) => await callFrom(served.port, localAddress, { body: '{"ref":"main"}' }),
    'too long': async (localAddress) => await callFrom(served.port, localAddress, { headers: { 'content-length': '30000000' } }),
  }
  let last = 1
  for (const [name, call] of Object.entries(wrong)) {
    last += 1
    const statuses = []
    for (let index = 0; index < 5; index += 1) statuses.push(await call(`127.0.0.${last}`))
    t.ok(
      statuses.slice(0, 3).every((status) => status !== 429) && statuses.slice(3).every((status) => status === 429),
      `${name}: ${statuses.join(' ')}`,
    )
  }
  for (let index = 0; index < 4; index += 1) await cutOff(served.port, '127.0.0.90')
  await t.resolves(
    (async () => {
      while ((await callFrom(served.port, '127.0.0.90', { path: '/other' })) !== 429);
    })(),
    'a body that ends early',
  )
  t.equal((await post('{"ref":"main"}', bearer)).status, 202)
  t.equal(requests.length, 1)
})

function statusOf(port: number, path: string): Promise<number> {
  return new Promise((resolve) => {
    let text = ''
    const body = '{"ref":"main"}'
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\nauthorization: Bearer token\r\n`
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`))
    socket.on('data', (data: Buffer) => (text += data.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)))
  })
}

type Call = { path?: string; method?: string; body?: string; headers?: Record<string, string> }

function callFrom(
  port: number,
  localAddress: string,
  { path = '/webhook/default/plant', method = 'POST', body = '', headers = {} }: Call,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      method,
      localAddress,
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
    }
    const request = http.request(options, (answer) => {
      answer.resume()
      answer.on('error', () => undefined)
      resolve(answer.statusCode ?? 0)
      request.destroy()
    })
    request.on('error', reject)
    if (headers['content-length'] === undefined) request.end(body)
    else request.flushHeaders()
  })
}

/** Starts a body and closes the connection. */
function cutOff(port: number, localAddress: string): Promise<void> {
  return new Promise((resolve) => {
    const head = 'POST /webhook/default/plant HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{'
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () => socket.write(head, () => socket.end()))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    socket.resume()
  })
}
