/**
 * docs/how-to/webhooks/README.md: the tables of hosts, formats, answers and limits between their markers, from the receiver's own tables.
 */
import { readFile } from 'node:fs/promises'
import { keptRequests } from '../../runtime/reconcile/decide/request-outcomes.ts'
import { failureWindowSeconds, suspectShare } from '../../runtime/http/limits.ts'
import { maxRecentCalls } from '../../runtime/receiver/request/dedupe.ts'
import { bodyLimits, connectionBounds, defaultLimits, hashLimits, maxHeldOfBody } from '../../runtime/receiver/limits.ts'
import { defaultBudget, longestWaitMs } from '../../runtime/receiver/request/write-queue.ts'
import { maxKeysOfSecret } from '../../runtime/receiver/authenticate.ts'
import { hosts, shapes } from '../../runtime/receiver/payload/payload.ts'
import { defaultBounds, maxHeaderBytes } from '../../runtime/http/serve.ts'
import { type GeneratedFile, replaceTable, table } from './table.ts'
import { maxBufferedBytes, patienceMs, peerShare, smallBytes } from '../../runtime/http/body.ts'
import { accepted, ignoredReasons, problems } from '../../runtime/receiver/answers.ts'

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
  }
  const content = Object.entries(tables).reduce((text, [name, rows]) => replaceTable(text, path, name, rows), present)
  return [{ path, content }]
}

function hostTable(): string {
  const sorted = hosts.toSorted((a, b) => order(a.name) - order(b.name) || (a.name < b.name ? -1 : 1))
  const rows = sorted.map(({ name, shown: { authentication, event, read } }) => [
    `[${name}](hosts.md#${name.toLowerCase().replaceAll(' ', '-')})`,
    authentication,
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
    ['deliveries in total', `${defaultLimits.perSecond} per second per replica, then 429`],
    ['unauthenticated calls from one peer', `${defaultLimits.failuresPerPeer} in ${failureWindowSeconds} seconds, then 429`],
    ['additional calls from all such peers', `${defaultLimits.perSecond * suspectShare} a second in total, counted separately`],
    [
      'writes to one GatewaySync',
      `${defaultBudget.perSecond} per second per replica, with bursts of ${defaultBudget.burst}; further deliveries share a write and still get 202`,
    ],
    [
      'requests without an outcome',
      `about ${keptRequests}; a further write waits up to ${longestWaitMs / 1000} seconds for the controller`,
    ],
    ['size of a body', `${mib(maxBytes)} MiB; ${mib(maxHeldOfBody)} MiB as a form, or without the lists of commits and files`],
    [
      'structure of a body',
      `${complexity.depth} levels; ${count(complexity.keys)} keys; ${count(complexity.containers)} lists and objects; ${count(complexity.entries)} entries in total`,
    ],
    [
      'size of a body that is authenticated by signature',
      `${mib(hashLimits.maxBytes)} MiB if more than ${hashLimits.maxHashesOfLarge} combinations of key and signature type must be checked; no limit for tokens`,
    ],
    [
      `bodies over ${kib(smallBytes)} KiB in memory`,
      `${mib(maxBufferedBytes)} MiB in total, ${mib(maxBufferedBytes * peerShare)} MiB from one peer; others wait ${patienceMs / 1000} seconds, then 429`,
    ],
    ['keys in a Secret or file', `${maxKeysOfSecret}; more are refused as \`AuthNotReady\``],
    ['keys that are tried for a namespace', `${hashLimits.maxKeys}, from as many Secrets`],
    ['remembered deliveries, to detect duplicates', `the last ${count(maxRecentCalls)} of each replica`],
    ['connections', `${connectionBounds.maxConnections}; beyond that, an idle connection of the peer with the most connections is closed`],
    [
      'time',
      `${defaultBounds.headersTimeoutMs / 1000} seconds for headers of up to ${kib(maxHeaderBytes)} KiB, ${defaultBounds.requestTimeoutMs / 1000} for a delivery, ${defaultBounds.keptAliveMs / 1000} between deliveries`,
    ],
  ]
  return table(['Limit', 'Value'], rows)
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
