/**
 * Runs the programs of a cluster as children of one process, each with its own log.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import path from 'node:path'

export type Children = {
  run(program: string, name: string, args: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess
  /** Stops one and resolves when it has exited; does not count as a failure. */
  end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Stops all in reverse order, so that etcd outlives the API server. */
  stop(): Promise<void>
}

const graceMs = 3_000

/** `failed` is called with the reason and the name if a child exits unexpectedly. */
export function startChildren(folder: string, failed: (why: string, name: string) => void): Children {
  const children: ChildProcess[] = []
  const expected = new WeakSet<ChildProcess>()
  const end = async (child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    expected.add(child)
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    const late = setTimeout(() => child.kill('SIGKILL'), graceMs)
    await ended
    clearTimeout(late)
  }
  return {
    run(program, name, args, env = process.env) {
      const file = path.join(folder, `${name}.log`)
      const log = openSync(file, 'a')
      const child = spawn(program, args, { stdio: ['ignore', log, log], env })
      child.on('error', (error) => failed(`${name}: ${error.message}`, name))
      child.on('exit', (code, signal) => {
        if (!expected.has(child)) failed(`${name} ended with ${code ?? signal}; its log is ${file}`, name)
      })
      children.push(child)
      return child
    },
    end,
    async stop() {
      for (const child of children) expected.add(child)
      for (const child of children.toReversed()) await end(child, 'SIGTERM')
    },
  }
}
