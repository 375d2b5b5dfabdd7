/**
 * Sees whether delivery answers where agents are told to fetch: by a connection of our own where its name is known here, as in the cluster;
 * else through the API server, which knows its Services.
 */
import { asFault } from '../../fault.ts'
import type { Delivery, OperatorSettings } from '../../fleet/check/facts.ts'
import type { SyncFacts } from '../../fleet/facts.ts'
import { causeOf, startCall } from '../../http/client.ts'
import type { Looking } from './looking.ts'

const connectWithinMs = 10_000
/** That nobody here knows the name says nothing about the cluster. */
const unknownName = /^(?:ENOTFOUND|EAI_AGAIN)\b/

/** Each address that agents are told, once; that of the installation where none is told yet. */
export async function tryDelivery(
  looking: Looking,
  settings: OperatorSettings,
  ownUrl: string,
  syncs: readonly SyncFacts[],
): Promise<Delivery[]> {
  const { watchNamespaces } = settings
  const told = new Map<string, string>()
  for (const { namespace, status } of syncs) {
    const { delivery } = status
    const isOurs = watchNamespaces.length === 0 || watchNamespaces.includes(namespace)
    if (isOurs && delivery !== undefined && URL.canParse(delivery.url)) told.set(delivery.url, delivery.caBundle)
  }
  if (told.size === 0) return [await throughService(looking, settings, ownUrl)]
  return await Promise.all([...told].map(([url, ca]) => connect(looking, settings, url, ca)))
}

async function connect(looking: Looking, settings: OperatorSettings, url: string, ca: string): Promise<Delivery> {
  try {
    const response = await startCall(url, { ca, agent: false, idleMs: connectWithinMs, signal: looking.signal }).answered
    response.destroy()
    return { kind: 'answers', url, by: 'connection' }
  } catch (error) {
    const message = causeOf(error)
    return unknownName.test(message) ? await throughService(looking, settings, url) : { kind: 'silent', url, message }
  }
}

/** Any answer of delivery itself will do, and without a token that is a refusal. */
async function throughService({ kube, signal }: Looking, { namespace, fullname }: OperatorSettings, url: string): Promise<Delivery> {
  const port = URL.canParse(url) ? new URL(url).port : ''
  const path = `/api/v1/namespaces/${namespace}/services/https:${fullname}-delivery:${port}/proxy/v1`
  try {
    await kube.post(path, {}, signal)
    return { kind: 'answers', url, by: 'service' }
  } catch (error) {
    const { reason, message } = asFault(error)
    if (/resource "services\/proxy"/.test(message))
      return { kind: 'refused', message: `${url} is not known here, and you may not reach it through the cluster` }
    const words = message.replace(/^POST \S+: (?:[0-9]{3} )?/, '')
    const isUnreached = reason === 'ApiUnavailable' || /^services "[^"]*" not found/.test(words)
    return isUnreached ? { kind: 'silent', url, message: words } : { kind: 'answers', url, by: 'service' }
  }
}
