/**
 * A TCP proxy to local ports that can be closed, cut and frozen, like a load balancer, a switch or a full connection table.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import type { Test } from 'tap'
import { freePort } from './ports.ts'

export type TcpProxy = {
  port: number
  /** Cuts all connections and refuses new ones. */
  close(): Promise<void>
  open(): Promise<void>
  /** Cuts all connections; accepts new ones. */
  cut(): void
  /** Keeps the client side of current connections open but drops their data without notice. Returns the number of connections. */
  freeze(): number
  /** A copy of the kubeconfig that connects through this proxy; written to a folder. */
  through(kubeconfig: string, folder: string): string
}

/** `targets`: ports in the order in which each connection tries them. */
export async function openTcpProxy(t: Pick<Test, 'teardown'>, targets: () => readonly number[]): Promise<TcpProxy> {
  const pairs = new Set<{ near: Socket; far: Socket }>()
  const server = createServer((near) => {
    near.on('error', () => undefined)
    near.pause()
    void join(near, targets())
  })
  const join = async (near: Socket, ports: readonly number[]): Promise<void> => {
    const far = await firstThatAnswers(ports)
    if (far === undefined || near.destroyed || !server.listening) {
      far?.destroy()
      return void near.destroy()
    }
    const pair = { near, far }
    pairs.add(pair)
    far.on('error', () => undefined)
    near.on('close', () => {
      pairs.delete(pair)
      far.destroy()
    })
    far.on('close', () => pairs.has(pair) && near.destroy())
    near.pipe(far)
    far.pipe(near)
  }
  const port = await freePort()
  const open = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
  await open()
  const all = new Set<Socket>()
  server.on('connection', (near: Socket) => {
    all.add(near)
    near.once('close', () => all.delete(near))
  })
  const cut = (): void => {
    for (const near of all) near.destroy()
  }
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      cut()
    })
  t.teardown(close)
  return {
    port,
    close,
    open,
    cut,
    freeze() {
      const frozen = [...pairs]
      for (const pair of frozen) {
        pairs.delete(pair)
        pair.near.unpipe(pair.far)
        pair.far.unpipe(pair.near)
        pair.far.destroy()
        // Reads and drops the data, so that the sender does not notice either.
        pair.near.resume()
      }
      return frozen.length
    },
    through(kubeconfig, folder) {
      const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: { server: string } }[] }
      for (const { cluster } of config.clusters) cluster.server = `https://127.0.0.1:${port}`
      const file = path.join(folder, `kubeconfig-over-${port}-${path.basename(kubeconfig)}`)
      writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
      return file
    },
  }
}

async function firstThatAnswers(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    if (isOpen) return socket
    socket.destroy()
  }
  return undefined
}
