import t from 'tap'
import { agentEnvironment, agentVariables, parseAgentSettings } from '../../runtime/agent-settings.ts'
import { Fault } from '../../runtime/fault.ts'

const identity = { POD_NAME: 'gw-0', POD_NAMESPACE: 'plant', POD_UID: 'u-1' }

/** What the container sees of the entries, with the downward API filled in. */
function environment(entries: ReturnType<typeof agentEnvironment>): Record<string, string> {
  return Object.fromEntries(entries.map(({ name, value }) => [name, value ?? identity[name as keyof typeof identity]]))
}

void t.test('what injection writes is what the agent reads', async (t) => {
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
  t.same(read, { ...written, port: 8084, podName: 'gw-0', podNamespace: 'plant', podUid: 'u-1' })
  t.same(Object.keys(read).length, Object.keys(agentVariables).length)
})

void t.test('what is missing or empty is absent, and port and log level have their defaults', async (t) => {
  const entries = agentEnvironment({ deliveryHost: 'd', deliveryTokenFile: '/t', podInfoDir: '/p', dataDir: '' })
  const { gatewaySync, dataDir, port, logLevel } = parseAgentSettings({ ...environment(entries), UNKNOWN: 'x' })
  t.same([gatewaySync, dataDir, port, logLevel], [undefined, undefined, 8083, 'info'])
})

void t.test('what must not be missing is named by its variable', async (t) => {
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
    t.match((thrown as Fault).message, `environment variable ${variable}: `)
  }
})
