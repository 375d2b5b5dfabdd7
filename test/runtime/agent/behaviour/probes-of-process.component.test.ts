/**
 * The agent's process and the kubelet: a port that somebody else has ends nothing, and with a folder no port is needed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { agentEnvironment, type WrittenSettings } from '../../../../runtime/agent-settings.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'

/** An agent of a pod without a data volume, which only answers probes. `end` settles with its exit code after SIGTERM. */
function startAgent(
  t: Test,
  written: Partial<WrittenSettings>,
): { pid: number | undefined; output(): string; exitCode(): number | null; end(): Promise<unknown> } {
  const identity = { POD_NAME: 'gw-0', POD_NAMESPACE: 'plant', POD_UID: 'u' }
  const settings = agentEnvironment({ deliveryHost: 'delivery:9445', deliveryTokenFile: '/none', podInfoDir: '/none', ...written })
  const own = Object.fromEntries(settings.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])))
  const program = path.resolve(import.meta.dirname, '../../../../runtime/agent.ts')
  const child = spawn(process.execPath, [program], { env: { ...process.env, ...identity, ...own } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const ended = once(child, 'exit')
  const end = async (): Promise<unknown> => {
    child.kill('SIGTERM')
    const [code] = (await ended) as [number | null]
    return code
  }
  t.teardown(async () => void (child.exitCode === null && (await end())))
  return { pid: child.pid, output: () => output, exitCode: () => child.exitCode, end }
}

void t.test('an agent whose port somebody else has works on, and answers once the port is free', { timeout: 60_000 }, async (t) => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, resolve))
  const { port } = other.address() as AddressInfo
  const agent = startAgent(t, { port: String(port) })
  await until(() => agent.output().includes(`port ${port}`) || undefined, 'the log names the port')
  t.equal(agent.exitCode(), null)
  other.close()
  await until(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/startz`, { headers: { connection: 'close' } }).catch(() => undefined)
    return answer?.status === 200 || undefined
  }, 'it answers')
  t.equal(await agent.end(), 0)
})

void t.test('an agent that was given a folder answers there', { timeout: 60_000 }, async (t) => {
  const folder = temporaryFolder(t, 'probes')
  const agent = startAgent(t, { probeDir: folder })
  const file = path.join(folder, 'start')
  await until(() => (existsSync(file) && readFileSync(file, 'utf8').endsWith('\nok')) || undefined, 'the gateway may start')
  t.match(readFileSync(file, 'utf8').split(' '), [String(agent.pid)], 'in its own name')
  t.notMatch(agent.output(), 'port')
  t.equal(await agent.end(), 0)
})
