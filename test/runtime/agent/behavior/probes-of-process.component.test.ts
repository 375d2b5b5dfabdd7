/**
 * The agent process and the kubelet's probes: a port that is in use does not stop the agent, and file-based probes need no port.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { agentEnvironment, type WrittenSettings } from '../../../../runtime/settings/agent.ts'
import { lacksText } from '../../../support/assertions.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'

/** Starts the agent of a pod without a data volume, which only answers probes. `end` sends SIGTERM and resolves with the exit code. */
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

void t.test(
  'an agent whose probe port is in use keeps running and serves probes once the port is free',
  { timeout: 600_000 },
  async (t) => {
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
  },
)

void t.test('an agent with a probe folder writes its answers there and opens no port', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t, 'probes')
  const agent = startAgent(t, { probeDir: folder })
  const file = path.join(folder, 'start')
  await until(() => (existsSync(file) && readFileSync(file, 'utf8').endsWith('\nok')) || undefined, 'the gateway may start')
  t.match(readFileSync(file, 'utf8'), new RegExp(`^${agent.pid} \\d+\nok$`), 'in its own name')
  lacksText(t, agent.output(), 'port')
  t.equal(await agent.end(), 0)
})
