/**
 * An installation that serves with a Secret of the user: the API server comes to trust it by the rights that the manifests give.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { keepCaBundle } from '../../runtime/certificates/keep-ca-bundle.ts'
import { openMounted } from '../../runtime/certificates/mounted.ts'
import { nextCertificates } from '../../runtime/certificates/rotation.ts'
import { systemClock } from '../../runtime/clock.ts'
import { webhookConfigurationType } from '../../runtime/kube/types.ts'
import { silentLog } from '../../runtime/log.ts'
import { presentRelease } from '../support/releases.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { openWorld, until } from '../support/world.ts'

void t.test('the webhook configuration of the manifests follows the mounted authority', { timeout: 240_000 }, async (t) => {
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
