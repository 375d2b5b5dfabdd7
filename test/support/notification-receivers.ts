/**
 * Receivers of notifications over real TLS, which check calls against their documentation: a webhook that verifies the signature of a
 * CloudEvents batch, a Slack incoming webhook and a Teams workflow webhook.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'

export type CloudEvent = { id: string; source: string; type: string; subject: string; time: string; data: Record<string, unknown> }

export type NotificationReceivers = {
  /** The addresses; the last two contain a secret in their path. */
  webhook: string
  slack: string
  msteams: string
  /** Accepted calls, in order. */
  events: CloudEvent[][]
  texts: string[]
  cards: string[][]
  /** Errors in calls. */
  refused: string[]
  /** Overrides for the next answers, one each. */
  answers: { status: number; body?: string; headers?: Record<string, string> }[]
  stop(): Promise<void>
}

export async function startNotificationReceivers(tls: ServerOptions, hmacKey: string): Promise<NotificationReceivers> {
  const server = createServer(tls, (request, response) => {
    void bodyOf(request).then((body) => {
      const { status, headers = {}, body: said = '' } = receivers.answers.shift() ?? take(request, body)
      response.writeHead(status, headers).end(said)
    })
  })
  const take = ({ url, method, headers }: IncomingMessage, body: Buffer): NotificationReceivers['answers'][number] => {
    const refuse = (why: string): { status: number } => {
      receivers.refused.push(why)
      return { status: 400 }
    }
    if (method !== 'POST') return refuse(`${method} is not POST`)
    const given = JSON.parse(body.toString('utf8')) as unknown
    if (url === '/hook') {
      const desired = Buffer.from(`sha256=${createHmac('sha256', hmacKey).update(body).digest('hex')}`)
      const shown = Buffer.from(String(headers['x-signature']))
      if (desired.length !== shown.length || !timingSafeEqual(desired, shown)) return refuse('the signature is not right')
      if (headers['content-type']?.startsWith('application/cloudevents-batch+json') !== true) return refuse('no batch of CloudEvents')
      const batch = given as (CloudEvent & { specversion: string })[]
      const required = ['specversion', 'id', 'source', 'type'] as const
      const isWhole = batch.every((event) => event.specversion === '1.0' && required.every((member) => event[member] !== ''))
      if (!isWhole || Number.isNaN(Date.parse(batch[0]?.time ?? ''))) return refuse('an event lacks what it must have')
      receivers.events.push(batch)
      return { status: 202 }
    }
    if (headers['content-type'] !== 'application/json') return refuse('no JSON')
    if (url === '/services/T0/B0/slack-secret') {
      const { text, ...others } = given as { text?: string }
      if (text === undefined || text === '' || Object.keys(others).length > 0) return refuse('no_text')
      receivers.texts.push(text)
      return { status: 200 }
    }
    if (url !== '/workflows/1?sig=teams-secret') return refuse(`nobody is at ${url}`)
    const { type, attachments } = given as { type?: string; attachments?: { contentType: string; content: Card }[] }
    const [attachment] = attachments ?? []
    if (type !== 'message' || attachment?.contentType !== 'application/vnd.microsoft.card.adaptive') return refuse('no adaptive card')
    if (attachment.content.type !== 'AdaptiveCard' || attachment.content.body.length === 0) return refuse('an empty card')
    receivers.cards.push(attachment.content.body.map(({ text }) => text))
    return { status: 202 }
  }
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const receivers: NotificationReceivers = {
    webhook: `${base}/hook`,
    slack: `${base}/services/T0/B0/slack-secret`,
    msteams: `${base}/workflows/1?sig=teams-secret`,
    events: [],
    texts: [],
    cards: [],
    refused: [],
    answers: [],
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receivers
}

type Card = { type: string; body: { text: string }[] }

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}
