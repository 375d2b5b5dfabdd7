/**
 * `cluster-sync check` with really running pods: a healthy installation, and faults that only a node can have.
 */
import type { Test } from 'tap'
import { podAnnotations } from '../../../../runtime/api/names.ts'
import type { CheckReport, Finding } from '../../../../runtime/fleet/check/report.ts'
import { matchObject } from '../../../support/assertions.ts'
import { dataFolder, gatewayImage } from '../../../support/node-images.ts'
import { runCli } from '../../../support/run-cli.ts'
import { until } from '../../../support/world.ts'
import { type Cluster, containerOf, gatewayUser, inOperator, operator, patience } from '../cluster.ts'
import { say } from '../given.ts'
import { plant } from './install.ts'

const inPlant = `--namespace=${plant.namespace}`
/** An address without a server, so that a pull fails at once. */
const absentImage = 'localhost:1/absent/gateway:8.3'

export async function checkInstallation(t: Test, cluster: Cluster): Promise<void> {
  const { kubectl, apply } = cluster
  const cli = (...words: string[]) =>
    runCli(['check', ...words], { env: { KUBECONFIG: cluster.given.adminKubeconfig }, timeoutMs: 180_000 })
  const report = async (): Promise<CheckReport> => JSON.parse((await cli('--format', 'json')).stdout) as CheckReport

  const healthy = await cli()
  matchObject(t, healthy, { code: 0, stderr: '', stdout: / 0 failed\.$/m }, healthy.stdout)
  for (const line of healthy.stdout.split('\n')) say(line)

  // All faults at once, as each call of the command takes its time; the integration tests break one part after the other.
  const select = async (nowhere: string | null): Promise<void> => {
    const patch = `--patch=${JSON.stringify({ spec: { selector: { nowhere } } })}`
    await kubectl('patch', `service/${operator.name}-delivery`, inOperator, '--type=merge', patch)
  }
  await apply(gatewayPod('absent', absentImage, { [podAnnotations.inject]: 'true' }), gatewayPod('bare', gatewayImage))
  // As if it had been created while admission was not called for its agent.
  await kubectl('annotate', 'pod/bare', inPlant, `${podAnnotations.inject}=true`)
  // Its agent applies the files first, through the content server that is removed next.
  const isRefused = (waiting: string | undefined): boolean => /^(?:ErrImagePull|ImagePullBackOff)$/.test(waiting ?? '')
  await until(
    async () => {
      const absent = (await cluster.pods(plant.namespace)).find(({ metadata: { name } }) => name === 'absent')
      return absent !== undefined && isRefused(containerOf(absent, 'gateway')?.state.waiting?.reason) ? true : undefined
    },
    'the image cannot be pulled',
    patience.waitMs,
  )
  await select('anybody')
  let seen: CheckReport | undefined
  const broken = await until(
    async () => {
      seen = await report()
      const found = desired.map(({ section, text }) => seen?.findings.find((one) => one.section === section && text.test(one.text)))
      return found.every((finding) => finding !== undefined) ? found : undefined
    },
    'everything that is broken is found',
    patience.waitMs,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(seen?.findings)}`)
  })
  for (const finding of broken) matchObject(t, finding, { level: 'error', advice: /./ }, finding.text)
  matchObject(t, await cli(), { code: 1, stdout: /^× Not working: /m })

  await select(null)
  await kubectl('delete', 'pod/absent', 'pod/bare', inPlant, '--grace-period=1')
  await until(async () => ((await report()).level === 'error' ? undefined : true), 'mended, nothing is broken', patience.waitMs)
}

/** The expected finding of each fault. */
const desired: readonly { section: Finding['section']; text: RegExp }[] = [
  { section: 'delivery', text: /agents cannot fetch from / },
  { section: 'gateways', text: new RegExp(`pod ${plant.namespace}/bare: .*agent`) },
  { section: 'images', text: new RegExp(`pod ${plant.namespace}/absent cannot pull ${absentImage}: .*(?:ErrImagePull|ImagePullBackOff)`) },
]

function gatewayPod(name: string, image: string, annotations: Record<string, string> = {}): object {
  const container = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: plant.namespace, name, annotations },
    spec: {
      securityContext: { runAsUser: gatewayUser, runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'gateway',
          image,
          imagePullPolicy: 'IfNotPresent',
          securityContext: container,
          volumeMounts: [{ name: 'data', mountPath: dataFolder }],
        },
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  }
}
