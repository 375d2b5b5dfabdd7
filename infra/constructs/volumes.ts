/**
 * The volumes of the controller pod, and their mounts in its container.
 */
import { Size } from 'cdk8s'
import * as kplus from 'cdk8s-plus-28'
import type { Construct } from 'constructs'
import type { Names } from '../names.ts'
import { mountPaths } from '../values/mounts.ts'
import { isInline, receiverKeys } from '../values/receiver-keys.ts'
import type { Values } from '../values.ts'
import { certificateSource } from './certificates.ts'

/** The volumes that cdk8s-plus supports, with their mounts. */
export function volumeMounts(scope: Construct, names: Names, values: Values): kplus.VolumeMount[] {
  const { webhookReceiver, statusPage, source } = values
  /** Optional, so that the controller starts even if the Secret or key does not exist yet. */
  const oneKey = (name: string, path: string, secretName: string, key: string): kplus.VolumeMount => ({
    path,
    readOnly: true,
    volume: secretVolume(scope, name, secretName, { items: { [key]: { path: 'value' } }, optional: true }),
  })
  const mounts: kplus.VolumeMount[] = []
  if (!source.persistence.enabled) mounts.push({ path: mountPaths.source, volume: sourceVolume(scope, source.storage) })
  if (certificateSource(values) !== 'controller')
    mounts.push({ path: mountPaths.certificate, readOnly: true, volume: secretVolume(scope, 'certificate', names.certificateSecret) })
  for (const name of receiverKeys(values)) {
    const key = webhookReceiver[name]
    const [secretName, item] = isInline(key) ? [names.receiverSecret, name] : [key.secretRef.name, key.secretRef.key]
    mounts.push(oneKey(`receiver-${name}`, `${mountPaths.receiver}/${name}`, secretName, item))
  }
  const { proxy } = statusPage
  if (statusPage.enabled && proxy.enabled)
    mounts.push(oneKey('status-page', mountPaths.statusPage, proxy.secretRef.name, proxy.secretRef.key))
  // For temporary files of git commands. In memory, so that private keys are not written to the disk of the node.
  const tmp = { medium: kplus.EmptyDirMedium.MEMORY, sizeLimit: Size.mebibytes(8) }
  mounts.push({ path: mountPaths.tmp, volume: kplus.Volume.fromEmptyDir(scope, 'Volume-tmp', 'tmp', tmp) })
  return mounts
}

type MountedVolume = {
  volume?: { name: string } & Record<string, unknown>
  mount: { name: string; mountPath: string } & Record<string, unknown>
}

/** Projected volumes and the claim of a StatefulSet, which cdk8s-plus does not support. */
export function otherVolumes({ notifications, statusPage, source }: Values): MountedVolume[] {
  const volumes: MountedVolume[] = []
  if (source.persistence.enabled) volumes.push({ mount: { name: 'source', mountPath: mountPaths.source } })
  if (notifications.length > 0) volumes.push(projected('notifications', mountPaths.notifications, notifications.map(notificationSecret)))
  if (statusPage.enabled && statusPage.oidc.enabled) {
    const items = ['client-secret', 'session-key', 'ca.crt'].map((key) => ({ key, path: key }))
    volumes.push(projected('status-page-login', mountPaths.login, [secretSource(statusPage.oidc.secretRef.name, items)]))
  }
  if (statusPage.enabled && statusPage.clusters.length > 0)
    volumes.push(projected('clusters', mountPaths.clusters, statusPage.clusters.map(kubeconfigSecret)))
  return volumes
}

function notificationSecret({ name, secretRef }: Values['notifications'][number]): object {
  const keys = ['address', 'hmac-key', 'ca.crt']
  return secretSource(
    secretRef.name,
    keys.map((key) => ({ key, path: `${name}/${key}` })),
  )
}

function kubeconfigSecret({ name, kubeconfig: { secretRef } }: Values['statusPage']['clusters'][number]): object {
  return secretSource(secretRef.name, [{ key: secretRef.key ?? 'kubeconfig', path: name }])
}

function secretSource(name: string, items: object[]): object {
  return { secret: { name, items, optional: true } }
}

function projected(name: string, mountPath: string, sources: object[]): MountedVolume {
  return { volume: { name, projected: { sources } }, mount: { name, mountPath, readOnly: true } }
}

function sourceVolume(scope: Construct, { existingClaim }: Values['source']['storage']): kplus.Volume {
  if (existingClaim === '') return kplus.Volume.fromEmptyDir(scope, 'Volume-source', 'source')
  const claim = kplus.PersistentVolumeClaim.fromClaimName(scope, 'SourceClaim', existingClaim)
  return kplus.Volume.fromPersistentVolumeClaim(scope, 'Volume-source', claim, { name: 'source' })
}

function secretVolume(scope: Construct, name: string, secretName: string, options: kplus.SecretVolumeOptions = {}): kplus.Volume {
  const secret = kplus.Secret.fromSecretName(scope, `Secret-${name}`, secretName)
  return kplus.Volume.fromSecret(scope, `Volume-${name}`, secret, { name, ...options })
}
