/**
 * How the agent gets values from the gateway's environment and arguments.
 */
import t from 'tap'
import { type Pod } from '../../../runtime/injection/pod.ts'
import { gateway, inject } from '../../support/injected.ts'
import { chartPod, type PodShape } from '../../support/pods.ts'

void t.test('the deployment mode comes from the source that the gateway reads', async (t) => {
  const from = (pod: Pod & PodShape): unknown[] => {
    const { agent } = inject(pod)
    return (agent.env ?? []).filter(({ name }) => /COPY|MODE/.test(name)).map(({ name, value, valueFrom }) => [name, value ?? valueFrom])
  }
  const withGateway = (changes: Record<string, unknown>): Pod & PodShape => {
    const pod = chartPod()
    Object.assign(gateway(pod), changes)
    return pod
  }
  t.strictSame(
    from(chartPod()),
    [
      ['CLUSTER_SYNC_COPY_SITE', 'north'],
      ['CLUSTER_SYNC_MODE_ENVIRONMENT', '$(CLUSTER_SYNC_COPY_SITE)-prod'],
      ['CLUSTER_SYNC_COPY_DEPLOYMENT_MODE', '$(CLUSTER_SYNC_COPY_SITE)-prod'],
      ['CLUSTER_SYNC_MODE_ARGUMENT', '-Dignition.config.mode=$(CLUSTER_SYNC_COPY_DEPLOYMENT_MODE)'],
    ],
    'is left to the kubelet to expand, for the agent as for the gateway',
  )
  t.strictSame(
    from(withGateway({ args: ['-Dignition.config.mode=a', '-Dsecret=x', '-Dignition.config.mode=b'], env: [] })),
    [['CLUSTER_SYNC_MODE_ARGUMENT', '-Dignition.config.mode=b']],
    'is the last that the arguments name, and no other argument comes along',
  )
  t.strictSame(from(withGateway({ args: ['-n', 'x'], env: undefined })), [], 'may be missing')
  const reference = { configMapKeyRef: { name: 'site', key: 'mode' } }
  t.strictSame(
    from(withGateway({ args: [], env: [{ name: 'DEPLOYMENT_MODE', valueFrom: reference }] })),
    [['CLUSTER_SYNC_MODE_ENVIRONMENT', reference]],
    'is read where the gateway reads it',
  )
  t.strictSame(
    from(withGateway({ args: [], env: [], envFrom: [{ configMapRef: { name: 'site' } }, { prefix: 'X_', secretRef: { name: 's' } }] })),
    [['CLUSTER_SYNC_MODE_ENVIRONMENT', { configMapKeyRef: { name: 'site', key: 'DEPLOYMENT_MODE', optional: true } }]],
    'is found in a whole ConfigMap',
  )
  t.strictSame(
    from(withGateway({ args: ['-Dignition.config.mode=$(A)'], env: [{ name: 'A', value: '$(A)' }] })).at(-1),
    ['CLUSTER_SYNC_MODE_ARGUMENT', '-Dignition.config.mode=$(CLUSTER_SYNC_COPY_A)'],
    'may name itself without end',
  )
})
