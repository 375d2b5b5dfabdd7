/**
 * Tests notifications over TLS against test servers that check each message.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { createLog } from '../../../runtime/platform/log/log.ts'
import { createNotifications } from '../../../runtime/notifications/notify.ts'
import type { Receiver } from '../../../runtime/settings/controller.ts'
import { openNetwork } from '../../../runtime/git/remote/network.ts'
import { matchObject } from '../../support/assertions.ts'
import { makeAuthority } from '../../support/authority.ts'
import { startNotificationReceivers } from '../../support/notification-receivers.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/world.ts'

const longMs = 60_000
const at = '2026-01-01T08:00:00Z'
const commit = 'a'.repeat(40)
/** Shared by all tests; created only where openssl is installed. */
const authorityOf = makeAuthority(temporaryFolder(t, 'receivers'), 'Plant CA')
authorityOf.catch(() => undefined)

function statusOf(status: 'True' | 'False', reason: string, message = 'as it should be'): GatewaySyncStatus {
  return {
    source: { ref: 'main', commit },
    published: { commit, ref: 'main', at },
    conditions: [{ type: 'Ready', status, reason, message, lastTransitionTime: at }],
  }
}

async function setUp(t: Test, own: Partial<Receiver> & Pick<Receiver, 'type'>, network = openNetwork) {
  const authority = await authorityOf
  const others = await startNotificationReceivers({ key: authority.server.key, cert: authority.server.certificate }, 'the key')
  t.teardown(async () => others.stop())
  const folder = path.join(temporaryFolder(t, 'receiver'), own.type)
  mkdirSync(folder)
  const put = (key: string, text: string): void => writeFileSync(path.join(folder, key), text)
  put('address', `${others[own.type]}\n`)
  put('hmac-key', 'the key\n')
  put('ca.crt', authority.certificate)
  const stop = new AbortController()
  const [outcomes, lines]: string[][] = [[], []]
  const notifications = createNotifications(
    {
      clock: systemClock,
      log: createLog({ level: 'debug', destination: { write: (line: string) => void lines?.push(line) } }),
      receivers: [{ name: 'chat', folder, events: ['Ready', 'Refused', 'Failed'], namespaces: [], ...own }],
      network,
      delivered: (type, how) => outcomes?.push(`${type} ${how}`),
      pace: { gatherMs: 50, spacingMs: 50, firstRetryMs: 1 },
    },
    stop.signal,
  )
  t.teardown(async () => {
    stop.abort()
    await notifications.settled()
  })
  const changed = (after: GatewaySyncStatus, name = 'line', namespace = 'plant', before: GatewaySyncStatus = {}): void =>
    notifications.changed({ namespace, name, status: before }, after)
  return { others, changed, outcomes: outcomes ?? [], lines: lines ?? [], put, folder }
}

const failing = statusOf('False', 'GatewaysFailed', '1 of 2 gateways: gw-0: <ScanFailed> & *more*')

void t.test('a webhook receives simultaneous notices as one signed batch of CloudEvents', async (t) => {
  if (!requires(t, 'openssl')) return
  const { others, changed, outcomes } = await setUp(t, { type: 'webhook' })
  changed(statusOf('True', 'Synced'))
  changed(failing, 'other')
  const [batch = []] = await until(() => (others.events.length > 0 ? others.events : undefined), 'a batch', longMs)
  t.strictSame(others.refused, [])
  matchObject(t, batch, [
    {
      type: 'clustersync.io.gatewaysync.ready',
      subject: 'plant/line',
      source: '/apis/clustersync.io/v1alpha1/namespaces/plant/gatewaysyncs/line',
      data: { namespace: 'plant', name: 'line', reason: 'Synced', message: 'as it should be', commit, ref: 'main' },
    },
    { type: 'clustersync.io.gatewaysync.failed', subject: 'plant/other', data: { reason: 'GatewaysFailed' } },
  ])
  t.equal(new Set(batch.map(({ id }) => id)).size, 2)
  await until(() => outcomes.length > 0 || undefined, 'the outcome', longMs)
  t.strictSame(outcomes, ['webhook sent'])
})

void t.test('Slack messages escape all markup in a notice', async (t) => {
  if (!requires(t, 'openssl')) return
  const { others, changed } = await setUp(t, { type: 'slack' })
  changed(failing)
  const [text] = await until(() => (others.texts.length > 0 ? others.texts : undefined), 'a text', longMs)
  t.equal(text, '*Failed* plant/line: GatewaysFailed: 1 of 2 gateways: gw-0: &lt;ScanFailed&gt; &amp; *more* (main aaaaaaaaaaaa)')
  t.strictSame(others.refused, [])
})

void t.test('a Teams card has one line per notice', async (t) => {
  if (!requires(t, 'openssl')) return
  const { others, changed } = await setUp(t, { type: 'msteams' })
  changed(statusOf('True', 'Synced'))
  changed(failing, 'other')
  const [card] = await until(() => (others.cards.length > 0 ? others.cards : undefined), 'a card', longMs)
  t.strictSame(card, [
    String.raw`**Ready** plant/line: Synced: as it should be \(main aaaaaaaaaaaa\)`,
    String.raw`**Failed** plant/other: GatewaysFailed: 1 of 2 gateways: gw-0: \<ScanFailed\> & \*more\* \(main aaaaaaaaaaaa\)`,
  ])
  t.strictSame(others.refused, [])
})

void t.test('a receiver gets only notices of its configured kinds and namespaces', async (t) => {
  if (!requires(t, 'openssl')) return
  const { others, changed } = await setUp(t, { type: 'slack', events: ['Failed'], namespaces: ['plant'] })
  changed(failing, 'elsewhere', 'other')
  changed(statusOf('True', 'Synced'), 'ready')
  changed(failing, 'failing')
  const texts = await until(() => (others.texts.length > 0 ? others.texts : undefined), 'a text', longMs)
  t.equal(texts.length, 1)
  t.match(texts[0], /^\*Failed\* plant\/failing: [^\n]*$/)
})

void t.test('an unavailable receiver is retried, and receives later notices in the same message', async (t) => {
  if (!requires(t, 'openssl')) return
  const { others, changed, outcomes } = await setUp(t, { type: 'slack' })
  others.answers.push({ status: 503 }, { status: 429, headers: { 'retry-after': '0' } })
  changed(failing, 'a')
  await until(() => outcomes.length > 0 || undefined, 'a try', longMs)
  changed(failing, 'b')
  await until(() => outcomes.includes('slack sent') || undefined, 'the message', longMs)
  const all = await until(() => (others.texts.join('\n').includes('plant/b') ? others.texts.join('\n') : undefined), 'both', longMs)
  t.match(all, /plant\/a/)
})

void t.test('a permanent error is dropped with a reason that includes neither address nor response', async (t) => {
  if (!requires(t, 'openssl')) return
  const { others, changed, outcomes, lines, put, folder } = await setUp(t, { type: 'webhook' })
  const givenUp = async (count: number): Promise<string> => {
    await until(() => outcomes.filter((outcome) => outcome === 'webhook dropped').length >= count || undefined, `${count} given up`, longMs)
    return lines.filter((line) => line.includes('notification dropped')).at(-1) ?? ''
  }
  others.answers.push({ status: 404, body: 'hunter2' })
  changed(failing, 'a')
  t.match(await givenUp(1), /"reason":"NotificationRefused","message":"\\"chat\\" answered 404"/)
  put('hmac-key', 'another key')
  changed(failing, 'b')
  t.match(await givenUp(2), /"chat\\" answered 400/)
  t.strictSame(others.refused, ['the signature is not right'])
  rmSync(path.join(folder, 'hmac-key'))
  changed(failing, 'c')
  t.match(await givenUp(3), /SecretNotFound.*hmac-key/)
  put('address', 'http://127.0.0.1/services/T0/B0/hunter2')
  changed(failing, 'd')
  t.match(await givenUp(4), /CredentialsInvalid.*not an https URL/)
  t.notMatch(lines.join(''), /hunter2|another key|the key/)
})

void t.test('an address that the installation does not permit is not called', async (t) => {
  if (!requires(t, 'openssl')) return
  const resolve = async (): Promise<never> => {
    throw new Fault('RepositoryNotAllowed', 'not there')
  }
  const { others, changed, outcomes } = await setUp(t, { type: 'slack' }, { ...openNetwork, resolve })
  changed(failing)
  await until(() => outcomes.length > 0 || undefined, 'the outcome', longMs)
  t.strictSame([outcomes, others.texts, others.refused], [['slack dropped'], [], []])
})
