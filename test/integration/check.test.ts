/**
 * `cluster-sync check` on the real API server: a healthy installation, as docs/how-to/check.md shows it, and each part of it broken and
 * repaired.
 */
import type { V1ContainerStatus } from '@kubernetes/client-node'
import path from 'node:path'
import t, { type Test } from 'tap'
import { gatherFacts } from '../../runtime/cli/check/gather.ts'
import { tryAdmission } from '../../runtime/cli/check/try-endpoints.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { check } from '../../runtime/fleet/check/check.ts'
import type { CheckReport, Finding, SectionId } from '../../runtime/fleet/check/report.ts'
import type { Kube } from '../../runtime/kube/client.ts'
import { type Json, podType, type ResourceType, secretType, webhookConfigurationType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
import { makeAuthority } from '../support/authority.ts'
import { type Installation, install, simulatedGateway } from '../support/installation.ts'
import type { Manifest } from '../support/manifest.ts'
import { requires } from '../support/requires.ts'
import { type CliResult, runCli } from '../support/run-cli.ts'
import { shown } from '../support/shown-output.ts'
import { namespaceType, tinyPod, until } from '../support/world.ts'

const deploymentType: ResourceType = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true }
const bindingType: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
}

type Cluster = { installation: Installation; namespace: string; operator: string; cli(...args: string[]): Promise<CliResult> }

/** An installation with one synced gateway, on its own control plane: other tests have installations on the shared one. */
async function healthy(t: Test): Promise<Cluster> {
  const installation = await install(t, ['plant', 'ending'], {}, { shared: false, lifetimeMs: 900_000 })
  t.teardown(() => {
    if (!t.passing()) t.comment(installation.logs.join(''))
  })
  const { world, host } = installation
  const namespace = installation.namespace('plant')
  const commit = host.repository('plant.git').commit({ 'projects/line/project.json': '{}' })
  const { simulator, dataDir, port } = await simulatedGateway(t, installation.folder, 'gw')
  await installation.gatewaySync(namespace, 'plant', { ...lineSpec(installation, 'main'), gateway: { port } })
  await installation.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  await until(
    async () => {
      const { published, gateways } = await installation.status(namespace, 'plant')
      return published?.commit === commit && gateways?.synced === 1 ? true : undefined
    },
    'the gateway is in step',
    120_000,
  )
  const deployment = ofKind(installation, 'Deployment')
  const operator = String(deployment.metadata['namespace'])
  // No kubelet runs that would set this.
  await world.kube.mergePatch(
    deploymentType,
    { namespace: operator, name: deployment.metadata.name },
    { status: { replicas: 1, readyReplicas: 1 } },
    { subresource: 'status' },
    world.signal,
  )
  const cli = (...args: string[]): Promise<CliResult> =>
    runCli(args, { env: { KUBECONFIG: world.plane.adminKubeconfig }, timeoutMs: 180_000 })
  return { installation, namespace, operator, cli }
}

function lineSpec({ host }: Installation, ref: string): object {
  return {
    git: { repo: host.url('plant.git/.git'), ref },
    polling: { enabled: false },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  }
}

function ofKind({ manifests }: Installation, kind: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind)
  if (found === undefined) throw new Error(`there is no ${kind}`)
  return found
}

/** In this process, because each start of the command takes a second or more. */
async function reportOf(kube: Kube): Promise<CheckReport> {
  return check(await gatherFacts({ kube, server: 'the cluster', namespace: 'default' }, undefined), systemClock.now())
}

void t.test('check distinguishes a healthy installation from each broken one', { timeout: 900_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const { installation, namespace, operator, cli } = await healthy(t)
  const { world } = installation
  const { kube, signal } = world
  const deployment = { namespace: operator, name: ofKind(installation, 'Deployment').metadata.name }

  /** The fault is the only finding, and disappears once it is repaired. */
  const breaks = async (
    name: string,
    { section, level = 'error', text, others = [] }: { section: SectionId; level?: Finding['level']; text: RegExp; others?: SectionId[] },
    change: () => Promise<() => Promise<unknown>>,
  ): Promise<void> => {
    await t.test(name, async (t) => {
      const mend = await change()
      const { findings } = await until(
        async () => {
          const report = await reportOf(kube)
          return report.findings.some((finding) => finding.level === level && text.test(finding.text)) ? report : undefined
        },
        name,
        120_000,
      )
      const bad = findings.filter((finding) => finding.level !== 'ok')
      matchObject(
        t,
        bad.find((finding) => text.test(finding.text)),
        { section, level, advice: /./ },
      )
      t.strictSame(
        [...new Set(bad.map((finding) => finding.section))].filter((one) => one !== section && !others.includes(one)),
        [],
        'nothing else',
      )
      await mend()
    })
  }

  await t.test('check finds no fault in a healthy installation', async (t) => {
    const result = await cli('check')
    matchObject(t, result, { code: 0, stderr: '' })
    shown(t, 'how-to/check.md', 'check', result.stdout)
    for (const line of result.stdout.split('\n')) t.ok(line.length <= 120, line)
    matchObject(t, await reportOf(kube), { level: 'ok' })
  })

  await breaks('no replica is ready', { section: 'operator', text: /has 0 of 1 replicas ready/ }, async () => {
    const set = (readyReplicas: number) =>
      kube.mergePatch(deploymentType, deployment, { status: { readyReplicas } }, { subresource: 'status' }, signal)
    await set(0)
    return () => set(1)
  })

  await breaks(
    'the operator is of another version',
    { section: 'operator', level: 'warning', text: /has version 7\.0\.0, this command/, others: ['gateways'] },
    async () => {
      const label = (version: string) =>
        kube.mergePatch(deploymentType, deployment, { metadata: { labels: { 'app.kubernetes.io/version': version } } }, {}, signal)
      const { metadata } = (await kube.get(deploymentType, deployment, signal)) ?? { metadata: {} as { labels?: Record<string, string> } }
      await label('7.0.0')
      return () => label(metadata.labels?.['app.kubernetes.io/version'] ?? '')
    },
  )

  await breaks(
    'a right of the controller is missing',
    { section: 'permissions', text: /may not list gatewaysyncs\.clustersync\.io in plant-/, others: ['git', 'gateways'] },
    async () => {
      const own = ofKind(installation, 'Deployment').metadata.name
      const key = { namespace, name: `${own}-watched` }
      const before = await kube.get(bindingType, key, signal)
      await kube.delete(bindingType, key, signal)
      return async () => {
        const { apiVersion, kind, roleRef, subjects } = before as unknown as Record<string, unknown>
        await kube.create(bindingType, { apiVersion, kind, roleRef, subjects, metadata: key }, signal)
      }
    },
  )

  await breaks('a pod has no agent', { section: 'gateways', text: /pod plant-[0-9a-f]+\/bare: .*agent/ }, async () => {
    // Created as if the webhook had been unavailable: without the annotation admission is not called.
    await kube.create(podType, tinyPod(namespace, 'bare'), signal)
    await kube.mergePatch(
      podType,
      { namespace, name: 'bare' },
      { metadata: { annotations: { 'clustersync.io/inject': 'true' } } },
      {},
      signal,
    )
    return () => kube.delete(podType, { namespace, name: 'bare' }, signal)
  })

  await breaks(
    'an image cannot be pulled',
    { section: 'images', text: /pod .*\/gw-0 cannot pull gateway:8\.3: .*ErrImagePull/, others: ['gateways'] },
    async () => {
      const waiting = {
        name: 'gateway',
        image: 'gateway:8.3',
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { waiting: { reason: 'ErrImagePull', message: 'not found' } },
      }
      const set = (containerStatuses: Json<V1ContainerStatus>[]) =>
        kube.mergePatch(podType, { namespace, name: 'gw-0' }, { status: { containerStatuses } }, { subresource: 'status' }, signal)
      await set([waiting])
      return () => set([])
    },
  )

  await breaks('the git host has no such branch', { section: 'git', text: /plant-[0-9a-f]+\/other: / }, async () => {
    await installation.gatewaySync(namespace, 'other', lineSpec(installation, 'no-such-branch'))
    return async () => {
      await world.plane.kubectl(['-n', namespace, 'delete', 'gatewaysync', 'other'])
    }
  })

  await breaks(
    'the definitions are of another release',
    { section: 'definitions', level: 'warning', text: /it lacks status\.history/ },
    async () => {
      const get = await world.plane.kubectl(['get', 'crd', 'gatewaysyncs.clustersync.io', '-o', 'json'])
      const crd = JSON.parse(get.stdout) as {
        spec: { versions: { schema: { openAPIV3Schema: { properties: { status: { properties: Record<string, unknown> } } } } }[] }
      }
      const properties = crd.spec.versions[0]?.schema.openAPIV3Schema.properties.status.properties ?? {}
      const { history } = properties
      const replace = (value: unknown) => {
        const op = value === undefined ? { op: 'remove' } : { op: 'add', value }
        const path = '/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/history'
        return world.plane.kubectl([
          'patch',
          'crd',
          'gatewaysyncs.clustersync.io',
          '--type',
          'json',
          '-p',
          JSON.stringify([{ ...op, path }]),
        ])
      }
      await replace(undefined)
      return () => replace(history)
    },
  )

  await t.test('a terminating namespace that takes no pods causes no admission finding', async (t) => {
    const ending = installation.namespace('ending')
    await installation.gatewaySync(ending, 'plant', lineSpec(installation, 'main'))
    // Watches may just be interrupted, because the definition of the kind has changed.
    await until(async () => (await installation.status(ending, 'plant')).published, 'the controller has seen it')
    const tried = async (desired: RegExp) =>
      await until(
        async () => (await reportOf(kube)).findings.find(({ section, text }) => section === 'admission' && desired.test(text)),
        `admission is reported as ${String(desired)}`,
        120_000,
      )
    matchObject(t, await tried(new RegExp(`in ${ending} `)), { level: 'ok' }, 'of two namespaces this is the one that is tried')
    await kube.delete(namespaceType, { name: ending }, signal)
    matchObject(
      t,
      await tried(/./),
      { level: 'ok', text: `a pod that requests an agent in ${namespace} gets one (dry run)` },
      'and now it is the other',
    )
    const { installations, fleet } = await gatherFacts({ kube, server: 'the cluster', namespace: 'default' }, undefined)
    const settings = installations.kind === 'seen' ? installations.value[0]?.settings : undefined
    if (settings === undefined || fleet.kind !== 'seen') throw new Error('the installation is not read')
    const only = fleet.value.syncs.filter((sync) => sync.namespace === ending)
    const probe = () => Promise.reject(new Error('there is no other look'))
    matchObject(t, await tryAdmission({ kube, clock: systemClock, signal, probe }, settings, only), {
      kind: 'notTested',
      why: /is being deleted/,
    })
  })

  await t.test('without permissions check reports what it could not read, and no faults', async (t) => {
    const { level, findings } = await reportOf(world.as(await world.token(namespace, 'default')))
    t.equal(level, 'warning')
    matchObject(
      t,
      findings.find(({ section }) => section === 'operator'),
      { level: 'warning', text: /^not checked: you \(system:serviceaccount:plant-[0-9a-f]+:default\) may not list / },
    )
  })

  // The controller stays stopped from here on, because it would repair the changes.
  await installation.stopController()

  await breaks(
    'the controller does not answer',
    { section: 'delivery', text: /agents cannot fetch from https:\/\/localhost:[0-9]+: ECONNREFUSED/, others: ['admission', 'operator'] },
    async () => async () => {},
  )

  await breaks(
    'gateway pods are refused',
    { section: 'admission', text: /is refused: .*failed calling webhook/, others: ['delivery', 'operator'] },
    async () => async () => {},
  )

  await breaks(
    'the CA bundle of the webhook is that of somebody else',
    { section: 'certificates', text: /CA bundle of the webhook does not trust/, others: ['admission', 'delivery', 'operator'] },
    async () => {
      const { name } = ofKind(installation, 'MutatingWebhookConfiguration').metadata
      const found = (await kube.get(webhookConfigurationType, { name }, signal)) as unknown as { webhooks: { clientConfig: object }[] }
      const set = (caBundle?: string) =>
        kube.mergePatch(
          webhookConfigurationType,
          { name },
          {
            webhooks: found.webhooks.map((webhook) => ({
              ...webhook,
              clientConfig: { ...webhook.clientConfig, ...(caBundle === undefined ? {} : { caBundle }) },
            })),
          },
          {},
          signal,
        )
      const { certificate } = await makeAuthority(path.join(installation.folder, 'strange'), 'strange')
      await set(Buffer.from(certificate).toString('base64'))
      return () => set()
    },
  )

  await breaks(
    'the Secret does not contain a certificate',
    { section: 'certificates', text: /does not contain a certificate/, others: ['admission', 'delivery', 'operator'] },
    async () => {
      const secret = { namespace: operator, name: `${deployment.name}-certificate` }
      const found = (await kube.get(secretType, secret, signal)) as unknown as { data: Record<string, string> }
      const set = (value: string | undefined) => kube.mergePatch(secretType, secret, { data: { 'tls.crt': value } }, {}, signal)
      await set('')
      return () => set(found.data['tls.crt'])
    },
  )
})
