/**
 * Sends notices to the receivers of an installation: gathered for some seconds, a message each half minute at most, tried again while a
 * receiver is away. Nobody waits for it.
 */
import { type Clock, timestamp } from '../../clock.ts'
import { Fault } from '../../fault.ts'
import type { GatewaySyncStatus } from '../../gatewaysync/schema/status.ts'
import { causeOf } from '../../http/client.ts'
import type { Log } from '../../log.ts'
import type { Receiver, ReceiverType } from '../../settings.ts'
import { type ApiAnswer, callForJson } from '../../source/credentials/api-call.ts'
import { addressesOf, type Network } from '../../source/remote/network.ts'
import { proxyFor } from '../../source/remote/proxy.ts'
import { passesByItself, retryAfterMs } from '../../source/api-answers.ts'
import { createOutbox, type Told, type Tried } from '../outbox.ts'
import { postOf } from './formats.ts'
import { type Bundle, bundled, noticesOf } from './notices.ts'
import { readReceiverSecret } from './secret-folder.ts'

export type Notifications = {
  /** The status of a GatewaySync was written: before it had `sync.status`. */
  changed(sync: { namespace: string; name: string; status: GatewaySyncStatus }, after: GatewaySyncStatus): void
  /** Settles after the signal, when no call is under way any more. */
  settled(): Promise<void>
}

type Deps = {
  clock: Clock
  log: Log
  receivers: readonly Receiver[]
  /** Receivers are reached as git hosts are. */
  network: Network
  told(type: ReceiverType, how: Told['kind']): void
  /** How long notices wait for later ones; shorter in tests. */
  pace?: { gatherMs: number; spacingMs: number; firstRetryMs: number }
}

const usualPace = { gatherMs: 5_000, spacingMs: 30_000 }

/** Works until the signal. */
export function createNotifications(deps: Deps, signal: AbortSignal): Notifications {
  const { clock, log, receivers } = deps
  const byName = new Map(receivers.map((receiver) => [receiver.name, receiver]))
  const send = async (key: string, bundle: Bundle, own: AbortSignal): Promise<Tried> => {
    const receiver = byName.get(key)
    if (receiver === undefined) return { kind: 'sent' }
    return await post(deps, receiver, bundle, own)
  }
  const told = (key: string, { notices, more }: Bundle, how: Told): void => {
    const type = byName.get(key)?.type
    if (type !== undefined) deps.told(type, how.kind)
    const about = { name: key, count: notices.length + more }
    if (how.kind === 'sent') return log.debug(about, 'notification sent')
    const { reason, message } = how.fault
    if (how.kind === 'retried') log.debug({ ...about, reason, message }, 'notification not taken yet')
    else log.warn({ ...about, reason, message }, 'notification given up')
  }
  const outbox = createOutbox<Bundle>({ clock, send, join: bundled, told, ...usualPace, ...deps.pace }, signal)
  return {
    changed(sync, after) {
      if (receivers.length === 0) return
      const notices = noticesOf(sync, after, timestamp(clock.now()))
      for (const { name, events, namespaces } of receivers) {
        if (namespaces.length > 0 && !namespaces.includes(sync.namespace)) continue
        const wanted = notices.filter(({ kind }) => events.includes(kind))
        if (wanted.length > 0) outbox.put(name, { notices: wanted, more: 0 })
      }
    },
    settled: outbox.settled,
  }
}

async function post({ clock, network }: Deps, { name, type, folder }: Receiver, bundle: Bundle, signal: AbortSignal): Promise<Tried> {
  const { address, hmacKey, caBundle } = await readReceiverSecret(name, folder)
  if (type === 'webhook' && hmacKey === undefined)
    throw new Fault('SecretNotFound', `notifications: the Secret of "${name}" has no key "hmac-key", which signs what is sent`)
  const host = address.hostname.replace(/^\[|\]$/g, '')
  const proxy = proxyFor({ protocol: 'https', host }, undefined, network.proxy)
  const addresses = await addressesOf(host, proxy, network, signal)
  const call = { url: address.href, ...postOf(type, bundle, { key: hmacKey, id: () => clock.uuid() }) }
  let answer: ApiAnswer
  try {
    answer = await callForJson(call, { caBundle, proxy: proxy?.url, addresses }, signal)
  } catch (error) {
    signal.throwIfAborted()
    return { kind: 'again', fault: new Fault('NotificationFailed', `"${name}" cannot be reached: ${causeOf(error)}`) }
  }
  const { status } = answer
  if (status >= 200 && status < 300) return { kind: 'sent' }
  const where = `"${name}" answered ${status}`
  if (!passesByItself(answer)) return { kind: 'never', fault: new Fault('NotificationRefused', where) }
  return { kind: 'again', fault: new Fault('NotificationFailed', where), afterMs: retryAfterMs(answer) ?? 0 }
}
