/**
 * Bodies as they come over a socket: in chunks, too long, too slow, one after the other.
 */
import { connect } from 'node:net'
import t from 'tap'
import { requestAnnotations } from '../../../../runtime/gatewaysync/names.ts'
import { serveReceiver } from '../../../support/receiver-app.ts'

void t.test('a body without a length is cut off at a megabyte, not read to its end', async (t) => {
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

void t.test('a body in chunks is one body, wherever it is cut', async (t) => {
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

void t.test('a sender that is too slow or goes away is let go, and nothing of what it sent counts', async (t) => {
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
  t.same(outcomes, ['malformed', 'malformed'])
  t.equal((await post('{"ref":"main"}', bearer)).status, 202, 'everybody else is answered')
})

void t.test('pipelined calls are answered in turn, and nothing of a body that is too long is taken for a call', async (t) => {
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
  t.same(await answersTo(call('{"ref":"a"}') + call('{"x":1}') + call('{"ref":"b"}'), 3), ['HTTP/1.1 202', 'HTTP/1.1 422', 'HTTP/1.1 202'])
  t.same(
    requests.map((annotations) => annotations[requestAnnotations.ref]),
    ['a', 'b'],
  )
  t.same(await answersTo(call(call('{"ref":"smuggled"}'), 2_000_000), 2), ['HTTP/1.1 413'])
  t.equal(requests.length, 2)
})
