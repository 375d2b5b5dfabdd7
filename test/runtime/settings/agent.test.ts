import t from 'tap'
import { agentEnvironment, agentVariables, parseAgentSettings } from '../../../runtime/settings/agent.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { containsText } from '../../support/assertions.ts'

const identity = { POD_NAME: 'gw-0', POD_NAMESPACE: 'plant', POD_UID: 'u-1' }

/** The environment of the container, with the downward API filled in. */
function environment(entries: ReturnType<typeof agentEnvironment>): Record<string, string> {
  return Object.fromEntries(entries.map(({ name, value }) => [name, value ?? identity[name as keyof typeof identity]]))
}

void t.test('the agent reads the settings that injection writes', async (t) => {
  const written = {
    gatewaySync: 'main',
    dataDir: '/data',
    deliveryHost: 'delivery:9445',
    deliveryTokenFile: '/t',
    podInfoDir: '/p',
    modeArgument: '-Dignition.config.mode=prod',
    modeEnvironment: 'prod',
    port: '8084',
    probeDir: '/probes',
    logLevel: 'warn',
    kubeconfig: '/kubeconfig',
  }
  const read = parseAgentSettings(environment(agentEnvironment(written)))
  t.strictSame(read, { ...written, port: 8084, podName: 'gw-0', podNamespace: 'plant', podUid: 'u-1' })
  t.strictSame(Object.keys(read).length, Object.keys(agentVariables).length)
})

void t.test('missing and empty variables are undefined, and port and log level have defaults', async (t) => {
  const entries = agentEnvironment({ deliveryHost: 'd', deliveryTokenFile: '/t', podInfoDir: '/p', dataDir: '' })
  const { gatewaySync, dataDir, port, logLevel } = parseAgentSettings({ ...environment(entries), UNKNOWN: 'x' })
  t.strictSame([gatewaySync, dataDir, port, logLevel], [undefined, undefined, 8083, 'info'])
})

void t.test('a missing or invalid variable is named in the error', async (t) => {
  const complete = environment(agentEnvironment({ deliveryHost: 'd', deliveryTokenFile: '/t', podInfoDir: '/p' }))
  const cases: [Record<string, string>, string][] = [
    [{ ...complete, POD_NAME: '' }, 'POD_NAME'],
    [{ ...complete, CLUSTER_SYNC_PORT: '70000' }, 'CLUSTER_SYNC_PORT'],
    [{ ...complete, CLUSTER_SYNC_PORT: 'x' }, 'CLUSTER_SYNC_PORT'],
    [{ ...complete, CLUSTER_SYNC_LOG_LEVEL: 'loud' }, 'CLUSTER_SYNC_LOG_LEVEL'],
    [identity, 'CLUSTER_SYNC_DELIVERY_HOST'],
  ]
  for (const [given, variable] of cases) {
    let thrown: unknown
    try {
      parseAgentSettings(given)
    } catch (error) {
      thrown = error
    }
    t.ok(thrown instanceof Fault && thrown.reason === 'InvalidConfiguration', variable)
    containsText(t, (thrown as Fault).message, `environment variable ${variable}: `)
  }
})
