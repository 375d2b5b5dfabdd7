/**
 * Every switch among the installation values with its settings, the pairs that exclude each other, and rows that contain all other pairs.
 */
import type { ValuesInput } from '../../infra/values.ts'
import { flags, withSettings } from './flags.ts'
import { type Pair, pairwise, type Row } from './pairwise.ts'

/** Switches that are not boolean but decide whether objects or parts of them exist: values when on; off is the default. */
const further: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'two replicas': { replicaCount: 2 },
  'a certificate of the user': { 'webhook.existingSecret': 'own-tls' },
  'inline keys': { 'webhookReceiver.hmac.secret': 'inline', 'webhookReceiver.token.secret': 'inline' },
  'keys by reference': { 'webhookReceiver.hmac.secretRef.name': 'push', 'webhookReceiver.token.secretRef.name': 'push' },
  'watched namespaces': { watchNamespaces: ['plant-a', 'plant-b'] },
}

export const switches: readonly string[] = [...flags, ...Object.keys(further)]

/** Pairs that cannot be installed, with the key at the beginning of the refusal. */
export const refused: readonly { pair: Pair; key: string }[] = [
  {
    pair: [
      ['serviceMonitor.enabled', true],
      ['metrics.enabled', false],
    ],
    key: 'metrics.enabled',
  },
  {
    pair: [
      ['webhookReceiver.ingress.enabled', true],
      ['webhookReceiver.enabled', false],
    ],
    key: 'webhookReceiver.enabled',
  },
  {
    pair: [
      ['statusPage.ingress.enabled', true],
      ['statusPage.enabled', false],
    ],
    key: 'statusPage.enabled',
  },
  {
    pair: [
      ['statusPage.proxy.enabled', true],
      ['statusPage.enabled', false],
    ],
    key: 'statusPage.enabled',
  },
  {
    pair: [
      ['statusPage.oidc.enabled', true],
      ['statusPage.enabled', false],
    ],
    key: 'statusPage.enabled',
  },
  {
    pair: [
      ['statusPage.oidc.enabled', true],
      ['statusPage.proxy.enabled', true],
    ],
    key: 'statusPage.oidc.enabled',
  },
  {
    pair: [
      ['two replicas', true],
      ['leaderElection.enabled', false],
    ],
    key: 'leaderElection.enabled',
  },
]

/** An Ingress needs a host, which has no effect without one; an existing account needs its name. */
const always: ValuesInput = {
  serviceAccount: { name: 'syncer' },
  webhookReceiver: { ingress: { hosts: [{ host: 'push.example.com', paths: [{ path: '/', pathType: 'Prefix' }] }] } },
  statusPage: {
    ingress: { hosts: [{ host: 'gateways.example.com', paths: [{ path: '/', pathType: 'Prefix' }] }] },
    proxy: { secretRef: { name: 'page-proxy' } },
    oidc: {
      issuer: 'https://login.example.com',
      clientID: 'page',
      secretRef: { name: 'page-login' },
      externalURL: 'https://gateways.example.com',
    },
  },
}

export function valuesOf(row: Row): ValuesInput {
  const settings = Object.entries(row).map(([name, on]) => {
    const set = further[name]
    if (set === undefined) return { [name]: on }
    return on ? set : {}
  })
  return withSettings(always, Object.assign({}, ...settings) as Record<string, unknown>)
}

/** Rows that can be installed and contain every pair of settings that is not refused. */
export const rows: readonly Row[] = pairwise(
  switches,
  refused.map(({ pair }) => pair),
)
