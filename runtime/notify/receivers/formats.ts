/**
 * A bundle of notices as each kind of receiver takes it. Sources: CloudEvents 1.0.2 with its JSON batch format, Slack's incoming webhooks,
 * and the adaptive cards that a webhook of Teams' workflows takes. Pure.
 */
import { createHmac } from 'node:crypto'
import { apiVersion, group } from '../../gatewaysync/names.ts'
import type { NoticeKind, ReceiverType } from '../../settings.ts'
import type { Bundle, Notice } from './notices.ts'

/** What is sent by POST; `body` is JSON, of which exactly these bytes are signed. */
export type Post = { headers: Readonly<Record<string, string>>; body: string }

/** `key` signs the bytes of the body; `id` makes the id of each event. */
export type Writing = { key: string | undefined; id(): string }

/** The request that tells a bundle to a receiver; that of a webhook is signed with `key`. */
export function postOf(type: ReceiverType, bundle: Bundle, writing: Writing): Post {
  if (type === 'webhook') return signed(events(bundle, writing), writing.key ?? '')
  const body = JSON.stringify(type === 'slack' ? { text: lines(bundle, slack).join('\n') } : card(lines(bundle, plain)))
  return { headers: { 'content-type': 'application/json' }, body }
}

function signed(body: string, key: string): Post {
  const signature = createHmac('sha256', key).update(body).digest('hex')
  return { headers: { 'content-type': 'application/cloudevents-batch+json; charset=utf-8', 'x-signature': `sha256=${signature}` }, body }
}

function events({ notices, more }: Bundle, { id }: Writing): string {
  return JSON.stringify(
    notices.map(({ kind, at, namespace, name, ...about }, index) => ({
      specversion: '1.0',
      id: id(),
      source: `/apis/${apiVersion}/namespaces/${namespace}/gatewaysyncs/${name}`,
      type: `${group}.gatewaysync.${kind.toLowerCase()}`,
      subject: `${namespace}/${name}`,
      time: at,
      datacontenttype: 'application/json',
      // What did not fit is told with the first.
      data: { namespace, name, ...about, ...(index === 0 && more > 0 ? { dropped: more } : {}) },
    })),
  )
}

type Marks = { strong(text: string): string; escaped(text: string): string }

/** Slack reads `&`, `<` and `>` as its own. */
const slack: Marks = {
  strong: (text) => `*${text}*`,
  escaped: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
}
/** A card takes Markdown; what could begin a link or a mark is written out. */
const plain: Marks = { strong: (text) => `**${text}**`, escaped: (text) => text.replaceAll(/[\\`*_[\]()<>~#|]/g, String.raw`\$&`) }

const words: Record<NoticeKind, string> = { Ready: 'Ready', NotReady: 'Not ready', Refused: 'Refused', Failed: 'Failed' }

/** In characters; people read a line, the cluster has the rest. */
const maxLine = 400

function lines({ notices, more }: Bundle, { strong, escaped }: Marks): string[] {
  const told = notices.map((notice) => `${strong(words[notice.kind])} ${escaped(lineOf(notice))}`)
  return more === 0 ? told : [...told, escaped(`and ${more} more`)]
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
