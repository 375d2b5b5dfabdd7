/**
 * A registry of container images on this machine.
 */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { freePort } from './ports.ts'
import { until } from './world.ts'

/** Starts one that keeps its data in `folder`, and that the builder of `env` reaches by http. Returns its address. */
export async function startRegistry(t: Pick<Test, 'teardown'>, folder: string, env: NodeJS.ProcessEnv, port?: number): Promise<string> {
  const registry = `127.0.0.1:${port ?? (await freePort())}`
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text)
    return path.join(folder, name)
  }
  env['CONTAINERS_REGISTRIES_CONF'] = file('registries.conf', `[[registry]]\nlocation = "${registry}"\ninsecure = true\n`)
  const storage = { filesystem: { rootdirectory: path.join(folder, 'registry') } }
  const config = file('registry.yml', JSON.stringify({ version: 0.1, log: { level: 'error' }, storage, http: { addr: registry } }))
  const server = spawn('docker-registry', ['serve', config], { stdio: 'ignore' })
  t.teardown(() => server.kill())
  const answers = async (): Promise<true | undefined> => {
    const answer = await fetch(`http://${registry}/v2/`).catch(() => undefined)
    return answer?.ok === true ? true : undefined
  }
  await until(answers, 'the registry answers')
  return registry
}
