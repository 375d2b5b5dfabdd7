/**
 * Sends notices to the receivers of an installation: gathered for some seconds, at most one message per half minute, retried while a
 * receiver is down. Callers never wait.
 */
import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { apiVersion, group } from '../api/names.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import { causeOf } from '../http/client.ts'
import type { Log } from '../platform/log/log.ts'
import type { NoticeKind, Receiver, ReceiverType } from '../settings/controller.ts'
import { type ApiAnswer, callForJson } from '../git/credentials/api-call.ts'
import { addressesOf, type Network } from '../git/remote/network.ts'
import { proxyFor } from '../git/remote/proxy.ts'
import { Outbox, type Delivery, type Tried } from './outbox.ts'
import { type Bundle, bundled, type Notice, noticesOf } from './notices.ts'
import { isTemporary, retryAfterMs } from '../git/api/host-api.ts'

export type Notifications = {
  /** The status of a GatewaySync was written; `sync.status` is the previous one. */
  changed(sync: { namespace: string; name: string; status: GatewaySyncStatus }, after: GatewaySyncStatus): void
  /** Settles after the signal, once no call is running. */
  settled(): Promise<void>
}

type Deps = {
  clock: Clock
  log: Log
  receivers: readonly Receiver[]
  /** The network rules for git hosts apply to receivers too. */
  network: Network
  delivered(type: ReceiverType, how: Delivery['kind']): void
  /** How long notices are gathered; shorter in tests. */
  pace?: { gatherMs: number; spacingMs: number; firstRetryMs: number }
}

const defaultPace = { gatherMs: 5_000, spacingMs: 30_000 }

/** Runs until `signal` aborts. */
export function createNotifications(deps: Deps, signal: AbortSignal): Notifications {
  const { clock, log, receivers } = deps
  const byName = new Map(receivers.map((receiver) => [receiver.name, receiver]))
  const send = async (key: string, bundle: Bundle, own: AbortSignal): Promise<Tried> => {
    const receiver = byName.get(key)
    if (receiver === undefined) return { kind: 'sent' }
    return await post(deps, receiver, bundle, own)
  }
  const delivered = (key: string, { notices, more }: Bundle, how: Delivery): void => {
    const type = byName.get(key)?.type
    if (type !== undefined) deps.delivered(type, how.kind)
    const about = { name: key, count: notices.length + more }
    if (how.kind === 'sent') return log.debug(about, 'notification sent')
    const { reason, message } = how.fault
    if (how.kind === 'retried') log.debug({ ...about, reason, message }, 'notification not accepted yet')
    else log.warn({ ...about, reason, message }, 'notification dropped')
  }
  const outbox = new Outbox<Bundle>({ clock, send, join: bundled, delivered, ...defaultPace, ...deps.pace }, signal)
  return {
    changed(sync, after) {
      if (receivers.length === 0) return
      const notices = noticesOf(sync, after, timestamp(clock.now()))
      for (const { name, events, namespaces } of receivers) {
        if (namespaces.length > 0 && !namespaces.includes(sync.namespace)) continue
        const matching = notices.filter(({ kind }) => events.includes(kind))
        if (matching.length > 0) outbox.put(name, { notices: matching, more: 0 })
      }
    },
    settled: () => outbox.settled(),
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
  if (!isTemporary(answer)) return { kind: 'never', fault: new Fault('NotificationRefused', where) }
  return { kind: 'again', fault: new Fault('NotificationFailed', where), afterMs: retryAfterMs(answer) ?? 0 }
}

/** Its keys `address`, `hmac-key` and `ca.crt`, checked. */
type ReceiverSecret = {
  address: URL
  /** Signs the messages. */
  hmacKey: string | undefined
  /** CAs of the receiver's certificate, PEM, in place of the system's. */
  caBundle: string | undefined
}

/** Throws SecretNotFound, and CredentialsInvalid for an address that is not an https URL, which no message shows: it may hold a secret. */
async function readReceiverSecret(name: string, folder: string): Promise<ReceiverSecret> {
  const [text, hmacKey, caBundle] = await Promise.all(['address', 'hmac-key', 'ca.crt'].map(async (key) => await read(folder, key)))
  if (text === undefined) throw new Fault('SecretNotFound', `notifications: the Secret of "${name}" has no key "address"`)
  const address = URL.parse(text)
  if (address === null || address.protocol !== 'https:' || address.username !== '' || address.password !== '')
    throw new Fault('CredentialsInvalid', `notifications: the address of "${name}" is not an https URL without user and password`)
  return { address, hmacKey, caBundle }
}

/** Reads a key of a mounted Secret; undefined if it is missing or empty. */
async function read(folder: string, key: string): Promise<string | undefined> {
  try {
    const text = (await readFile(path.join(folder, key), 'utf8')).trim()
    return text === '' ? undefined : text
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Fault('SecretNotFound', `notifications: "${path.join(folder, key)}" cannot be read`, { cause: error })
  }
}

/**
 * Formats a bundle of notices for each kind of receiver. Sources: CloudEvents 1.0.2 with its JSON batch format, Slack's incoming webhooks,
 * and the adaptive cards of Teams' workflow webhooks. Pure. The POST request; `body` is JSON, and exactly these bytes are signed.
 */
type Post = { headers: Readonly<Record<string, string>>; body: string }

/** `key` signs the bytes of the body; `id` creates the id of each event. */
type Writing = { key: string | undefined; id(): string }

/** Returns the request for a bundle; that of a webhook is signed with `key`. */
function postOf(type: ReceiverType, bundle: Bundle, writing: Writing): Post {
  if (type === 'webhook') return signed(eventBatch(bundle, writing), writing.key ?? '')
  const body = JSON.stringify(type === 'slack' ? { text: lines(bundle, slack).join('\n') } : card(lines(bundle, plain)))
  return { headers: { 'content-type': 'application/json' }, body }
}

function signed(body: string, key: string): Post {
  const signature = createHmac('sha256', key).update(body).digest('hex')
  return { headers: { 'content-type': 'application/cloudevents-batch+json; charset=utf-8', 'x-signature': `sha256=${signature}` }, body }
}

function eventBatch({ notices, more }: Bundle, { id }: Writing): string {
  return JSON.stringify(
    notices.map(({ kind, at, namespace, name, ...about }, index) => ({
      specversion: '1.0',
      id: id(),
      source: `/apis/${apiVersion}/namespaces/${namespace}/gatewaysyncs/${name}`,
      type: `${group}.gatewaysync.${kind.toLowerCase()}`,
      subject: `${namespace}/${name}`,
      time: at,
      datacontenttype: 'application/json',
      // The first one counts what did not fit.
      data: { namespace, name, ...about, ...(index === 0 && more > 0 ? { dropped: more } : {}) },
    })),
  )
}

type Marks = { strong(text: string): string; escaped(text: string): string }

/** Slack treats `&`, `<` and `>` as control characters. */
const slack: Marks = {
  strong: (text) => `*${text}*`,
  escaped: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
}
/** A card is Markdown; characters that could begin a link or markup are escaped. */
const plain: Marks = { strong: (text) => `**${text}**`, escaped: (text) => text.replaceAll(/[\\`*_[\]()<>~#|]/g, String.raw`\$&`) }

const words: Record<NoticeKind, string> = { Ready: 'Ready', NotReady: 'Not ready', Refused: 'Refused', Failed: 'Failed' }

/** Characters; the cluster has the full text. */
const maxLine = 400

function lines({ notices, more }: Bundle, { strong, escaped }: Marks): string[] {
  const texts = notices.map((notice) => `${strong(words[notice.kind])} ${escaped(lineOf(notice))}`)
  return more === 0 ? texts : [...texts, escaped(`and ${more} more`)]
}

function lineOf({ namespace, name, reason, message, commit, ref }: Notice): string {
  const what = [ref, commit?.slice(0, 12)].filter(Boolean).join(' ')
  const text = `${namespace}/${name}: ${reason}: ${message.replaceAll(/\s+/g, ' ')}${what === '' ? '' : ` (${what})`}`
  return text.length <= maxLine ? text : `${text.slice(0, maxLine - 1).toWellFormed()}…`
}

function card(texts: readonly string[]): object {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: texts.map((text) => ({ type: 'TextBlock', text, wrap: true })),
  }
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] }
}
