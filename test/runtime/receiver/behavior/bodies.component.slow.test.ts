/**
 * Tests request bodies over a socket: chunked, too large, too slow and pipelined.
 */
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import t from 'tap'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import { serveReceiver } from '../../../support/receiver-app.ts'

void t.test('a body without a length is cut off at the limit of one megabyte instead of being read to its end', async (t) => {
  const { served } = await serveReceiver(t)
  const sent = await new Promise<{ bytes: number; answer: string }>((resolve) => {
    let bytes = 0
    let answer = ''
    const socket = connect(served.port, '127.0.0.1', () => {
      socket.write(
        'POST /webhook/default/plant HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer token\r\ntransfer-encoding: chunked\r\n\r\n',
      )
      const chunk = 'x'.repeat(65_536)
      const write = (): void => {
        if (socket.destroyed || answer !== '' || bytes > 50_000_000) return
        bytes += chunk.length
        if (socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)) setImmediate(write)
        else socket.once('drain', write)
      }
      write()
    })
    socket.on('data', (data: Buffer) => (answer += data.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve({ bytes, answer }))
  })
  t.match(sent.answer, /^HTTP\/1\.1 413 /)
  t.ok(sent.bytes < 20_000_000, `${sent.bytes} bytes were taken`)
})

void t.test('a chunked body is reassembled wherever it is split', async (t) => {
  const { served, requests } = await serveReceiver(t)
  const body = Buffer.from('{"ref":"release/größe"}')
  for (const size of [1, 3, body.length]) {
    const chunks: Buffer[] = []
    for (let at = 0; at < body.length; at += size) {
      const piece = body.subarray(at, at + size)
      chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
    }
    const head =
      'POST /webhook/default/plant HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer token\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
    const answer = await new Promise<string>((resolve) => {
      let text = ''
      const socket = connect(served.port, '127.0.0.1', () => {
        socket.write(head)
        for (const chunk of chunks) socket.write(chunk)
        socket.write('0\r\n\r\n')
      })
      socket.on('data', (data: Buffer) => (text += data.toString('utf8')))
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(text))
    })
    t.match(answer, /^HTTP\/1\.1 202 /, `chunks of ${size}`)
    t.equal(requests.at(-1)?.[requestAnnotations.ref], 'release/größe')
  }
  t.equal(requests.length, 3)
})

void t.test('a slow or disconnected sender is dropped, and its partial body has no effect', async (t) => {
  const { served, requests, outcomes, post, bearer } = await serveReceiver(t, {
    bounds: { headersTimeoutMs: 500, requestTimeoutMs: 1_500 },
  })
  const begun = (head: string): Promise<string> =>
    new Promise((resolve) => {
      let answer = ''
      const socket = connect(served.port, '127.0.0.1', () => socket.write(head))
      socket.on('data', (data: Buffer) => (answer += data.toString('latin1')))
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(answer))
    })
  const head = 'POST /webhook/default/plant HTTP/1.1\r\nhost: x\r\nauthorization: Bearer token\r\ncontent-type: application/json\r\n'
  const answers = await Promise.all([
    begun('POST /webhook'),
    begun(`${head}content-length: 30\r\n\r\n{"ref":"main"}`),
    begun(`${head}transfer-encoding: chunked\r\n\r\ne\r\n{"ref":"main"}\r\n`),
  ])
  t.notOk(answers.some((answer) => answer.includes(' 202 ') || answer.includes(' 5')))
  t.equal(requests.length, 0)
  while (outcomes.length < 2) await new Promise(setImmediate)
  t.strictSame(outcomes, ['malformed', 'malformed'])
  t.equal((await post('{"ref":"main"}', bearer)).status, 202, 'everybody else is answered')
})

void t.test('pipelined calls are answered in order, and no part of an oversized body is parsed as a call', async (t) => {
  const { served, requests } = await serveReceiver(t)
  const call = (body: string, length = body.length): string =>
    `POST /webhook/default/plant HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer token\r\ncontent-length: ${length}\r\n\r\n${body}`
  const answersTo = (sent: string, count: number): Promise<string[]> =>
    new Promise((resolve) => {
      let text = ''
      const statuses = (): string[] => text.match(/HTTP\/1\.1 \d{3}/g) ?? []
      const socket = connect(served.port, '127.0.0.1', () => socket.write(sent))
      socket.on('data', (data: Buffer) => {
        text += data.toString('latin1')
        if (statuses().length >= count) socket.destroy()
      })
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(statuses()))
    })
  t.strictSame(await answersTo(call('{"ref":"a"}') + call('{"x":1}') + call('{"ref":"b"}'), 3), [
    'HTTP/1.1 202',
    'HTTP/1.1 422',
    'HTTP/1.1 202',
  ])
  t.strictSame(
    requests.map((annotations) => annotations[requestAnnotations.ref]),
    ['a', 'b'],
  )
  t.strictSame(await answersTo(call(call('{"ref":"smuggled"}'), 30_000_000), 2), ['HTTP/1.1 413'])
  t.equal(requests.length, 2)
})

void t.test('a push of many files is accepted up to 25 MiB, and its signature is verified with up to 4 hashes', async (t) => {
  const { post, requests, bearer } = await serveReceiver(t)
  const file = `projects/${'x'.repeat(80)}/view.json`
  const push = (count: number): string =>
    JSON.stringify({
      ref: 'refs/heads/main',
      before: 'a'.repeat(40),
      after: 'b'.repeat(40),
      commits: [{ id: 'b'.repeat(40), added: Array.from({ length: count }, () => file) }],
      head_commit: { id: 'b'.repeat(40), modified: [file] },
    })
  const large = push(200_000)
  t.ok(large.length > 19_000_000 && large.length < 25 * 1024 * 1024, `${large.length} bytes`)
  const event = { 'x-github-event': 'push' }
  const signed = { ...event, 'x-hub-signature-256': `sha256=${createHmac('sha256', 'key').update(large).digest('hex')}` }
  t.equal((await post(large, signed)).status, 202)
  t.equal((await post(large, { ...event, ...bearer })).status, 202)
  t.equal((await post(`${large} `, signed)).status, 401, 'the signature is over every byte')
  t.equal(requests.length, 2)
  t.equal((await post(large, event)).status, 401)
  t.equal((await post(push(300_000), { ...event, ...bearer })).status, 413)
  const held = JSON.stringify({ ref: 'main', text: 'x'.repeat(1024 * 1024) })
  t.equal((await post(held, bearer)).status, 413, 'what is held is bounded')
  const sign = (body: string): Record<string, string> => ({
    ...event,
    'x-hub-signature-256': `sha256=${createHmac('sha256', 'key').update(body).digest('hex')}`,
  })
  const medium = push(20_000)
  t.ok(medium.length > 1024 * 1024)
  const few = await serveReceiver(t, { keys: { hmac: ['a', 'b', 'c', 'key'], tokens: undefined } })
  t.equal((await few.post(medium, sign(medium))).status, 202)
  const many = await serveReceiver(t, { keys: { hmac: ['a', 'b', 'c', 'd', 'key'], tokens: ['token'] } })
  t.equal((await many.post(medium, sign(medium))).status, 401)
  const small = push(10_000)
  t.ok(small.length < 1024 * 1024)
  t.equal((await many.post(small, sign(small))).status, 202)
  const limit = small.padEnd(1024 * 1024)
  t.equal((await many.post(limit, sign(limit))).status, 202)
  t.equal((await many.post(`${limit} `, sign(`${limit} `))).status, 401)
  const pieces = [Buffer.from(limit), Buffer.from(' ')]
  const longer = await fetch(`${many.served.url}/webhook/default/plant`, {
    method: 'POST',
    body: ReadableStream.from(pieces),
    duplex: 'half',
    headers: { ...sign(limit), 'content-type': 'application/json', connection: 'close' },
  })
  await longer.body?.cancel()
  t.equal(longer.status, 401, 'the signature of its beginning is that of another body')
  t.equal((await many.post(medium, { ...event, ...bearer })).status, 202, 'a token needs no hash')
})
