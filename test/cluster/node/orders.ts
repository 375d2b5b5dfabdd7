/**
 * The services of a node and the socket for commands: tests stop and start the kubelet, containerd and the API server over it.
 */
import type { ChildProcess } from 'node:child_process'
import { createServer, request } from 'node:http'
import path from 'node:path'
import { startChildren } from '../children.ts'
import { stateFolder } from './configuration.ts'

export type Service = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'containerd' | 'kubelet' | 'kube-proxy'
export type Command = { program: string; args: readonly string[] }
export type Order = 'start' | 'stop' | 'kill'

const socket = path.join(stateFolder, 'orders')

/** The number of restarts of a service that exits unexpectedly; a kubelet does while containerd is not ready. */
const maxRestarts = 10
const restartDelayMs = 1_000

/** Starts the command server; `failed` is called when a service keeps exiting without a stop command. */
export function serveOrders(folder: string, failed: (why: string) => void): { add(name: Service, command: Command): Promise<void> } {
  const services = new Map<string, { command: Command; child: ChildProcess | undefined; restarts: number }>()
  const children = startChildren(folder, (why, name) => {
    const service = services.get(name)
    if (service === undefined || service.restarts === maxRestarts) return failed(why)
    service.restarts += 1
    service.child = undefined
    setTimeout(() => void follow('start', name), restartDelayMs)
  })
  const follow = async (order: string, name: string): Promise<boolean> => {
    const service = services.get(name)
    if (service === undefined) return false
    if (order === 'start') service.child ??= children.run(service.command.program, name, service.command.args)
    else if (service.child !== undefined) {
      await children.end(service.child, order === 'kill' ? 'SIGKILL' : 'SIGTERM')
      service.child = undefined
    }
    return true
  }
  createServer((incoming, response) => {
    const [, order = '', name = ''] = (incoming.url ?? '').split('/')
    void follow(order, name).then((known) => {
      response.statusCode = known ? 200 : 404
      response.end()
    })
  }).listen(socket)
  return {
    async add(name, command) {
      services.set(name, { command, child: undefined, restarts: 0 })
      await follow('start', name)
    },
  }
}

/** Sends a command from inside the node; resolves when it has been carried out. */
export function order(what: Order, name: Service): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: socket, path: `/${what}/${name}`, method: 'POST' }, (response) => {
      response.resume()
      if (response.statusCode === 200) resolve()
      else reject(new Error(`${what} ${name}: ${response.statusCode}`))
    })
    asked.on('error', reject)
    asked.end()
  })
}
