/**
 * A road to ports of this machine that can be closed, cut and forgotten: what a load balancer, a switch or a full table of connections does
 * to those that lead over it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import type { Test } from 'tap'
import { freePort } from './ports.ts'

export type Road = {
  port: number
  /** Everything on it is cut off, and nobody gets on. */
  close(): Promise<void>
  open(): Promise<void>
  /** Everything that is on it now is cut off; who comes again gets on. */
  cut(): void
  /** What is on it now stays open at the near end and leads nowhere from here on: nobody is told. Returns how many connections. */
  freeze(): number
  /** A kubeconfig like the given one that leads over this road; written into a folder. */
  through(kubeconfig: string, folder: string): string
}

/** `targets`: ports in the order in which they are tried for each connection. */
export async function openRoad(t: Pick<Test, 'teardown'>, targets: () => readonly number[]): Promise<Road> {
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
        // Read and dropped, so that whoever writes is not told either.
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
