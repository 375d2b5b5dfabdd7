/**
 * An installation with a Secret of the user or of cert-manager: the API server trusts it with the permissions of the manifests.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { openMounted } from '../../runtime/certificates/mounted.ts'
import { nextCertificates } from '../../runtime/certificates/rotation.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { webhookConfigurationType } from '../../runtime/kube/types.ts'
import { createServing } from '../../runtime/certificates/serving.ts'
import { type Log, silentLog } from '../../runtime/platform/log/log.ts'
import { Temporal } from '../../runtime/platform/temporal.ts'
import { presentRelease } from '../support/releases.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { openWorld, until } from '../support/world.ts'
import { keepCaBundle, awaitCaBundle } from '../../runtime/certificates/ca-bundle.ts'

void t.test('the webhook configuration of the manifests follows the mounted authority', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const namespace = await world.namespace('own-certificate')
  const kinds = new Set(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'MutatingWebhookConfiguration'])
  const values = { webhook: { existingSecret: 'own-tls' }, watchNamespaces: [namespace] }
  const objects = presentRelease.manifests({ name: namespace, namespace }, values).filter(({ kind }) => kinds.has(kind))
  await world.apply(objects)
  const account = objects.find(({ kind }) => kind === 'ServiceAccount')?.metadata.name ?? ''

  const folder = path.join(temporaryFolder(t, 'own-certificate'), 'mounted')
  mkdirSync(folder)
  const { leaf, caBundle } = await nextCertificates(undefined, { dnsNames: ['localhost'], now: Temporal.Now.instant() })
  const files = { 'tls.crt': leaf.certificate, 'tls.key': leaf.key, 'ca.crt': caBundle }
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content)

  const deps = { kube: world.as(await world.token(namespace, account)), clock: systemClock, log: silentLog }
  const stop = new AbortController()
  const running = keepCaBundle(deps, await openMounted(deps, { folder }), account).run(stop.signal)
  const trusted = await until(async () => {
    const found = (await world.kube.get(webhookConfigurationType, { name: account }, world.signal)) as unknown
    const [webhook] = (found as { webhooks: { clientConfig: { caBundle?: string } }[] }).webhooks
    return webhook?.clientConfig.caBundle
  }, 'the API server is told an authority')
  t.equal(Buffer.from(trusted, 'base64').toString(), caBundle)
  stop.abort()
  await running
  await world.kube.delete(webhookConfigurationType, { name: account }, world.signal)
})

void t.test(
  'a replica with a cert-manager certificate may read the authority that the injector writes',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const world = await openWorld(t)
    const namespace = await world.namespace('injected')
    const kinds = new Set(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'MutatingWebhookConfiguration'])
    const objects = presentRelease
      .manifests({ name: namespace, namespace }, { watchNamespaces: [namespace] })
      .filter(({ kind }) => kinds.has(kind))
    await world.apply(objects)
    const account = objects.find(({ kind }) => kind === 'ServiceAccount')?.metadata.name ?? ''
    const { leaf, caBundle } = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
    const warnings: string[] = []
    const log: Log = { ...silentLog, warn: ({ message = '' }) => warnings.push(message) }
    const deps = { kube: world.as(await world.token(namespace, account)), clock: systemClock, log }
    const serving = createServing({ cert: leaf.certificate, key: leaf.key, caBundle })
    const keeper = awaitCaBundle(deps, { ...serving, run: async () => {} }, account)
    const running = keeper.run(world.signal)
    const { webhooks } = (await world.kube.get(webhookConfigurationType, { name: account }, world.signal)) as unknown as {
      webhooks: { clientConfig: object }[]
    }
    t.notOk(keeper.isTrusted())
    const told = webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle: Buffer.from(caBundle).toString('base64') },
    }))
    await world.kube.mergePatch(webhookConfigurationType, { name: account }, { webhooks: told }, {}, world.signal)
    await until(() => keeper.isTrusted() || undefined, 'it is seen')
    await running
    t.strictSame(warnings, [], 'and not because it may not look')
    await world.kube.delete(webhookConfigurationType, { name: account }, world.signal)
  },
)
