/**
 * A name server on this machine, with the names that a test gives it.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { Resolver } from 'node:dns/promises'

/** `never`: no answer at all; among addresses: none to the question for the other family. `fails`: SERVFAIL. Other names do not exist. */
export type Names = Readonly<Record<string, readonly string[] | 'never' | 'fails'>>

type NameServer = {
  resolver(): Resolver
  /** The names that were asked for, without repetitions. */
  asked(): string[]
  stop(): Promise<void>
}

const nameAtByte = 12

/** Serves A and AAAA records. */
export async function startNameServer(names: Names, options: { timeout: number; tries: number }): Promise<NameServer> {
  const asked = new Set<string>()
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, end, type } = questionOf(query)
    asked.add(name)
    const found = names[name]
    const records = typeof found === 'object' ? found.filter((one) => one !== 'never' && (one.includes(':') ? 28 : 1) === type) : []
    if (records.length === 0 && found?.includes('never') === true) return
    const code = found === 'fails' ? 2 : found === undefined ? 3 : 0
    const header = Buffer.concat([query.subarray(0, 2), Buffer.from([0x81, 0x80 | code, 0, 1, 0, records.length, 0, 0, 0, 0])])
    socket.send(Buffer.concat([header, query.subarray(nameAtByte, end), ...records.map((record) => answerOf(type, record))]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    resolver() {
      const resolver = new Resolver(options)
      resolver.setServers([`127.0.0.1:${socket.address().port}`])
      return resolver
    },
    asked: () => [...asked],
    async stop() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

/** `end`: the byte behind the question (RFC 1035, 4.1.2). */
function questionOf(query: Buffer): { name: string; end: number; type: number } {
  const labels: string[] = []
  let at = nameAtByte
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5, type: query.readUInt16BE(at + 1) }
}

function answerOf(type: number, address: string): Buffer {
  const data = type === 28 ? ipv6Bytes(address) : address.split('.').map(Number)
  // A pointer to the name of the question, then type, class, time to live and length.
  return Buffer.from([0xc0, nameAtByte, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data])
}

/** Only for addresses with all eight groups. */
function ipv6Bytes(address: string): number[] {
  return address.split(':').flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff])
}
