/**
 * The controller's entry point as a process, with an API server that does not answer: enough to observe its start.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { type ControllerSettingsInput, controllerSettingsVariable } from '../../runtime/settings/controller.ts'
import { temporaryFolder } from './repository.ts'

const nobody = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'a',
  clusters: [{ name: 'a', cluster: { server: 'http://127.0.0.1:1' } }],
  users: [{ name: 'a', user: {} }],
  contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
}

/** The first two lines that it writes to standard output. */
export async function firstLinesOf(
  t: Pick<Test, 'teardown'>,
  program: string,
  settings: Partial<ControllerSettingsInput>,
): Promise<[first: string, second: string]> {
  const folder = temporaryFolder(t, 'controller-process')
  const kubeconfig = path.join(folder, 'kubeconfig')
  writeFileSync(kubeconfig, JSON.stringify(nobody))
  const all: ControllerSettingsInput = {
    namespace: 'plant',
    fullname: 'operator',
    source: { folder: path.join(folder, 'source') },
    delivery: { url: 'https://delivery.example.com' },
    certificates: { kind: 'selfManaged', secretName: 'operator-tls' },
    dnsNames: ['operator.example.com'],
    injection: { enabled: false, webhookConfiguration: 'operator' },
    agent: { image: 'agent', imagePullPolicy: 'Never', clusterRole: 'agent' },
    receiver: { enabled: false },
    metrics: { enabled: false },
    ...settings,
  }
  const environment = { [controllerSettingsVariable]: JSON.stringify(all), KUBECONFIG: kubeconfig, POD_NAME: 'operator-0' }
  const child = spawn(process.execPath, [program], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let errors = ''
  child.stderr.on('data', (text: Buffer) => (errors += text.toString('utf8')))
  try {
    let first: string | undefined
    for await (const line of createInterface({ input: child.stdout })) {
      if (first !== undefined) return [first, line]
      first = line
    }
    throw new Error(`the controller wrote less than two lines: ${errors}`)
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}
