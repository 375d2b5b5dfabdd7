/**
 * The volumes of the controller's pod, and where its container has them. Pure.
 */
import type { k8s } from 'cdk8s-plus-28'
import { and, either, isSet, not, or, text } from '../helm/combinators.ts'
import type { Live, Value } from '../helm/expression.ts'
import { each, field, given, when } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import { certificateBy } from './certificates.ts'
import { inlineSecretName } from './receiver.ts'
import { asGiven, type Written } from './written.ts'

type Volume = Written<k8s.Volume>
type Mount = Written<k8s.VolumeMount>

export const sourceFolder = '/var/lib/cluster-sync'
export const certificateFolder = '/etc/cluster-sync/certificate'
export const receiverFolder = '/etc/cluster-sync/receiver'
export const notificationsFolder = '/etc/cluster-sync/notifications'
export const statusPageFolder = '/etc/cluster-sync/status-page'
export const loginFolder = '/etc/cluster-sync/status-page-login'
const temporaryFolder = '/tmp'

/** Names and folders that `extraVolumes` and `extraVolumeMounts` may not use. */
export const ownVolumes: readonly string[] = [
  'source',
  'certificate',
  'receiver-hmac',
  'receiver-token',
  'notifications',
  'status-page',
  'status-page-login',
  'tmp',
]
export const ownFolders: readonly string[] = [
  sourceFolder,
  certificateFolder,
  receiverFolder,
  notificationsFolder,
  statusPageFolder,
  loginFolder,
  temporaryFolder,
]

/** Of the Secret of a receiver of notifications. */
const receiverKeys = ['address', 'hmac-key', 'ca.crt'] as const

/** Of the Secret of the login by OpenID Connect. */
const loginKeys = ['client-secret', 'session-key', 'ca.crt'] as const

type KeyFile = { name: 'hmac' | 'token'; mounted: Value<boolean>; secretName: Value<string>; key: Value<string> }

/** The keys of the push receiver, each mounted as one file where the values have it. */
export function keyFiles(names: Names, { webhookReceiver: receiver }: Live<Values>): KeyFile[] {
  return (['hmac', 'token'] as const).map((name): KeyFile => {
    const { secret, secretRef } = receiver[name]
    const referred = isSet(secretRef.name)
    return {
      name,
      mounted: and(receiver.enabled, or(referred, isSet(secret))),
      secretName: either(referred, secretRef.name, inlineSecretName(names)),
      key: either<string>(referred, secretRef.key, name),
    }
  })
}

/** The Secret of a receiver as a folder of its name. A Secret or key that is not there yet keeps no controller from starting. */
function receiverSecret(receiver: Value<Values['notifications'][number]>): Written<k8s.VolumeProjection> {
  const name = field(receiver, 'name')
  const items = receiverKeys.map((key) => ({ key, path: text`${name}/${key}` }))
  return { secret: { name: field(receiver, 'secretName'), items, optional: true } }
}

/** Whether the secret of the status page's proxy is needed. */
function hasProxy({ statusPage: { enabled, proxy } }: Live<Values>): Value<boolean> {
  return and(enabled, proxy.enabled)
}

/** Whether the Secret of the status page's own login is needed. */
function hasOidc({ statusPage: { enabled, oidc } }: Live<Values>): Value<boolean> {
  return and(enabled, oidc.enabled)
}

/** Each key that the Secret has is a file; one that is missing keeps no controller from starting. */
function loginVolume({ secretRef }: Live<Values>['statusPage']['oidc']): Volume {
  const sources = loginKeys.map((key) => ({ secret: { name: secretRef.name, items: [{ key, path: key }], optional: true } }))
  return { name: 'status-page-login', projected: { sources } }
}

/** The volumes of the controller's pod: only those that the values ask for. */
export function volumes(names: Names, values: Live<Values>): Volume[] {
  const { storage, persistence } = values.source
  const { sizeLimit, existingClaim } = storage
  const { secretRef: proxyRef } = values.statusPage.proxy
  return [
    // With persistence, the StatefulSet makes a claim of this name for each replica.
    ...when<Volume>(not(persistence.enabled), [
      {
        name: 'source',
        emptyDir: given(not(isSet(existingClaim)), { sizeLimit }),
        persistentVolumeClaim: given(isSet(existingClaim), { claimName: existingClaim }),
      },
    ]),
    ...when<Volume>(not(certificateBy(values).selfManaged), [{ name: 'certificate', secret: { secretName: names.certificateSecret } }]),
    ...keyFiles(names, values).flatMap(({ name, mounted, secretName, key }) =>
      when<Volume>(mounted, [{ name: `receiver-${name}`, secret: { secretName, items: [{ key, path: 'value' }], optional: true } }]),
    ),
    ...when<Volume>(isSet(values.notifications), [
      { name: 'notifications', projected: { sources: each('notification', values.notifications, receiverSecret) } },
    ]),
    ...when<Volume>(hasProxy(values), [
      {
        name: 'status-page',
        secret: { secretName: proxyRef.name, items: [{ key: proxyRef.key, path: 'value' }], optional: true },
      },
    ]),
    ...when<Volume>(hasOidc(values), [loginVolume(values.statusPage.oidc)]),
    { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } },
    ...each('extraVolume', values.extraVolumes, (volume): Volume => asGiven(volume)),
  ]
}

/** Where the controller's container finds these volumes; one for each, in the same order. */
export function volumeMounts(names: Names, values: Live<Values>): Mount[] {
  return [
    { name: 'source', mountPath: sourceFolder },
    ...when<Mount>(not(certificateBy(values).selfManaged), [{ name: 'certificate', mountPath: certificateFolder, readOnly: true }]),
    ...keyFiles(names, values).flatMap(({ name, mounted }) =>
      when<Mount>(mounted, [{ name: `receiver-${name}`, mountPath: `${receiverFolder}/${name}`, readOnly: true }]),
    ),
    ...when<Mount>(isSet(values.notifications), [{ name: 'notifications', mountPath: notificationsFolder, readOnly: true }]),
    ...when<Mount>(hasProxy(values), [{ name: 'status-page', mountPath: statusPageFolder, readOnly: true }]),
    ...when<Mount>(hasOidc(values), [{ name: 'status-page-login', mountPath: loginFolder, readOnly: true }]),
    // Holds what one call of git needs, such as host keys and a socket. In memory, because the root file system is read-only.
    { name: 'tmp', mountPath: temporaryFolder },
    ...each('extraMount', values.extraVolumeMounts, (mount): Mount => asGiven(mount)),
  ]
}
