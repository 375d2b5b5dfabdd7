/**
 * docs/how-to/webhooks/README.md: the tables of hosts, formats, answers, limits and events between their markers, from the receiver's own tables.
 */
import { readFile } from 'node:fs/promises'
import { receiverEvents } from '../../runtime/controller/serve/receiver.ts'
import { keptRequests } from '../../runtime/reconcile/decide/request.ts'
import { maxHeldBytes, patienceMs, peerShare, smallBytes } from '../../runtime/http/body-budget.ts'
import { failureWindowSeconds, suspectShare } from '../../runtime/http/limits.ts'
import { accepted, ignoredReasons, problems } from '../../runtime/receiver/answer-table.ts'
import { maxRecentCalls } from '../../runtime/receiver/request/dedupe.ts'
import { bodyLimits, connectionBounds, defaultLimits, hashLimits, maxHeldOfBody } from '../../runtime/receiver/limits.ts'
import { defaultBudget, longestWaitMs } from '../../runtime/receiver/request/write-queue.ts'
import { maxKeysOfSecret } from '../../runtime/receiver/prove/authenticate.ts'
import { hosts, shapes } from '../../runtime/receiver/payload/payload.ts'
import { defaultBounds, maxHeaderBytes } from '../../runtime/http/serve.ts'
import { type GeneratedFile, replaceTable, table } from './table.ts'

const path = 'docs/how-to/webhooks/README.md'
/** The most common hosts first; the code checks them in another order. */
const firstHosts = ['GitHub', 'GitLab', 'Gitea', 'Forgejo', 'Gogs']

export async function webhooks(): Promise<GeneratedFile[]> {
  const present = await readFile(path, 'utf8')
  const tables = {
    hosts: hostTable(),
    shapes: shapeTable(),
    answers: answerTable(),
    limits: limitTable(),
    events: eventTable(),
  }
  const content = Object.entries(tables).reduce((text, [name, rows]) => replaceTable(text, path, name, rows), present)
  return [{ path, content }]
}

function hostTable(): string {
  const sorted = hosts.toSorted((a, b) => order(a.name) - order(b.name) || (a.name < b.name ? -1 : 1))
  const rows = sorted.map(({ name, shown: { proof, event, read } }) => [
    `[${name}](hosts.md#${name.toLowerCase().replaceAll(' ', '-')})`,
    proof,
    event,
    read,
  ])
  return table(['Host', 'Authentication', 'Event', 'Read'], rows)
}

function order(name: string): number {
  const at = firstHosts.indexOf(name)
  return at < 0 ? firstHosts.length : at
}

function shapeTable(): string {
  return table(
    ['Order', 'Format', 'Ref'],
    shapes.map(({ name, ref }, index) => [String(index + 1), name, ref]),
  )
}

function answerTable(): string {
  return table(
    ['Status', 'Body', 'When'],
    [
      ...accepted.map(({ body, when }) => ['202', body, when]),
      ...Object.entries(ignoredReasons).map(([reason, { status, when }]) => [
        `${status}`,
        `\`accepted: false\`, reason \`${reason}\``,
        when,
      ]),
      ...Object.entries(problems).map(([reason, { status, when }]) => [`${status}`, `problem \`${reason}\``, when]),
    ],
  )
}

function limitTable(): string {
  const { maxBytes, complexity } = bodyLimits
  const rows = [
    ['calls, all together', `${defaultLimits.perSecond} a second and replica, then 429`],
    ['calls of one peer that prove nothing', `${defaultLimits.failuresPerPeer} in ${failureWindowSeconds} seconds, then 429`],
    ['calls of all peers beyond that', `${defaultLimits.perSecond * suspectShare} a second together, counted apart`],
    [
      'writes to one GatewaySync',
      `${defaultBudget.perSecond} a second and replica, ${defaultBudget.burst} at once; then calls share writes; they still get 202`,
    ],
    [
      'requests without an outcome',
      `about ${keptRequests}; then a write waits up to ${longestWaitMs / 1000} seconds until the controller has answered some`,
    ],
    ['body', `${mib(maxBytes)} MiB; without the lists of commits and files, or as a form ${mib(maxHeldOfBody)} MiB`],
    ['keys of a Secret or file', `${maxKeysOfSecret}; more are refused as \`AuthNotReady\``],
    ['keys that a call for a namespace is tried with', `${hashLimits.maxKeys}, of as many different Secrets`],
    [
      'body that is authenticated by its signature',
      `${mib(hashLimits.maxBytes)} MiB where more than ${hashLimits.maxHashesOfLarge} hashes are needed, one for each key and kind of signature; a token needs none`,
    ],
    [
      `bodies above ${kib(smallBytes)} KiB held at once`,
      `${mib(maxHeldBytes)} MiB, of one peer ${mib(maxHeldBytes * peerShare)} MiB; others wait ${patienceMs / 1000} seconds for their turn, then 429`,
    ],
    ['nesting of a body', `${complexity.depth} levels`],
    ['keys of a body', count(complexity.keys)],
    ['lists and objects of a body', count(complexity.containers)],
    ['entries of a body, of all lists and objects', count(complexity.entries)],
    ['deliveries remembered as duplicates', `the last ${count(maxRecentCalls)} of each replica`],
    ['connections', `${connectionBounds.maxConnections}; of more, one that waits for no answer is closed, of the peer that holds the most`],
    ['headers', `${kib(maxHeaderBytes)} KiB, within ${defaultBounds.headersTimeoutMs / 1000} seconds`],
    ['a whole call', `${defaultBounds.requestTimeoutMs / 1000} seconds`],
    ['an idle connection', `${defaultBounds.keptAliveMs / 1000} seconds`],
  ]
  return table(['Limit', 'Value'], rows)
}

function eventTable(): string {
  return table(
    ['Event', 'On', 'When'],
    Object.entries(receiverEvents).map(([reason, { on, when }]) => [`\`${reason}\``, on, when]),
  )
}

function mib(bytes: number): number {
  return bytes / 1024 / 1024
}

function kib(bytes: number): number {
  return bytes / 1024
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
