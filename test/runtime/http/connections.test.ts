/**
 * Which connection is closed when a port has reached its limit. test/attacks/idle-connections.component.slow.test.ts covers attackers over
 * real ports.
 */
import type { IncomingMessage } from 'node:http'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { createConnections } from '../../../runtime/http/connections.ts'

const startMs = 1_000

/** A port with a limit of three connections. */
function port() {
  let nowMs = 0
  let nextPort = 1
  const connections = createConnections(3, { monotonicMs: () => nowMs })
  const open = (address: string) => {
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress: address,
      remotePort: nextPort++,
      isOpen: true,
      destroy() {
        socket.isOpen = false
        socket.emit('close')
      },
    })
    connections.open(socket as unknown as Socket)
    const call = () => connections.begin({ complete: true, socket } as unknown as IncomingMessage)
    return { isOpen: () => socket.isOpen, call }
  }
  return {
    open,
    pass(ms: number) {
      nowMs += ms
    },
  }
}

void t.test('of many simultaneous connections the first ones keep their time to send a request', async (t) => {
  for (const addresses of [
    ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'],
    ['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.1'],
  ]) {
    const { open, pass } = port()
    const all = addresses.map((address) => open(address))
    t.strictSame(
      all.map(({ isOpen }) => isOpen()),
      [true, true, true, false],
    )
    pass(startMs)
    t.ok(open(addresses[3] ?? '').isOpen(), 'who has not asked in that time gives way')
    t.notOk(all[0]?.isOpen())
  }
})

void t.test('an answered connection is closed at once, the longest idle one first', async (t) => {
  const { open } = port()
  const [first, second, third] = [open('10.0.0.1'), open('10.0.0.2'), open('10.0.0.3')]
  second.call()()
  first.call()()
  const newcomer = open('10.0.0.4')
  t.strictSame(
    [first, second, third, newcomer].map(({ isOpen }) => isOpen()),
    [true, false, true, true],
  )
})

void t.test('a peer with more connections than the newcomer has no protected time', async (t) => {
  const { open } = port()
  const [first, second, other] = [open('10.0.0.1'), open('10.0.0.1'), open('10.0.0.2')]
  const newcomer = open('10.0.0.3')
  t.strictSame(
    [first, second, other, newcomer].map(({ isOpen }) => isOpen()),
    [false, true, true, true],
  )
})

void t.test('a connection with a request in progress is never closed', async (t) => {
  const { open, pass } = port()
  const asked = [open('10.0.0.1'), open('10.0.0.1'), open('10.0.0.1')]
  for (const { call } of asked) call()
  pass(60_000)
  t.notOk(open('10.0.0.2').isOpen())
  t.ok(asked.every(({ isOpen }) => isOpen()))
})
