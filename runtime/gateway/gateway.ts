/**
 * Client for the HTTP API of a running gateway: its state, its Designers, the lock around an edit, and the scan that ends it.
 * test/contract/gateway.ts defines the routes' behavior.
 */
import * as v from 'valibot'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import { Temporal } from '../platform/temporal.ts'
import { type Answer, call, type Call, type Connection, parsed, required } from './http.ts'
import { jsonOrUndefined } from '../platform/text/json.ts'

/** What a gateway can be requested to scan. */
export type ScanKind = 'projects' | 'config'

/** `commissioning`: responds to requests but is not ready; `faulted`: any other state. */
export type GatewayStatus = 'running' | 'commissioning' | 'starting' | 'stopping' | 'faulted' | 'unreachable'

/** `deploymentMode` is `''` if the gateway reports that it has none, undefined if it does not report it. */
export type GatewayInfo = { name: string; version: string; deploymentMode: string | undefined; redundancyRole: string }
/** An open Designer session; `project` is `''` when the gateway does not name one. */
export type Designer = { user: string; project: string }
/** When each scan finished, by the gateway's clock, and the reported problems; `problems` is undefined if unknown. */
export type Scanned = { projects?: Temporal.Instant; config?: Temporal.Instant; problems: string[] | undefined }

/**
 * Throws GatewayUnreachable, GatewayNotReady (from `lock` also while another client holds it), GatewayUnauthorized, GatewayForbidden and,
 * only from `scan`, ScanFailed: before it, no file has been read, so that no other response concerns a commit. `status` throws nothing.
 */
export type Gateway = {
  status(signal: AbortSignal): Promise<GatewayStatus>
  info(signal: AbortSignal): Promise<GatewayInfo>
  designers(signal: AbortSignal): Promise<Designer[]>
  /**
   * Holds back the gateway's own changes while files are written; ends with the next scan, or after a minute. If it throws, locks that it
   * already took are released.
   */
  lock(kinds: readonly ScanKind[], signal: AbortSignal): Promise<'held' | 'unsupported'>
  /** The response status of a page of the gateway; redirects are not followed. */
  statusOf(path: string, signal: AbortSignal): Promise<number>
  /**
   * The problems that the gateway reports, including modules in quarantine; undefined: it does not report them, or the key may not read
   * them.
   */
  problems(signal: AbortSignal): Promise<string[] | undefined>
  /** Settles when the gateway has finished reading: projects first, then config. */
  scan(kinds: readonly ScanKind[], signal: AbortSignal): Promise<Scanned>
}

/** How to reach the gateway; without `ca` the public CAs are trusted. */
export type GatewayDeps = Omit<Connection, 'ca'> & { ca?: Connection['ca'] | undefined; clock: Clock; log: Log }

const api = '/data/api/v1'
/** Deadline of a scan: reading a large configuration takes a gateway tens of seconds. */
const scanTimeoutMs = 120_000
const firstPollMs = 5
const longestPollMs = 500
const lockTimes = { acquireTimeout: 10, holdTimeout: 60 }
/** Longer than the gateway itself waits for its lock. */
const lockTimeoutMs = 15_000
const lockRetryMs = 1_000
const lockAttempts = 5
/**
 * Statuses of a gateway that has no such route, or does not accept a POST there. Only `POST scan/config` is required: older gateways, and
 * proxies that permit one path, would otherwise never load a commit. What a missing route would answer is unknown.
 */
const noSuchRoute: readonly number[] = [404, 405, 501]
/** Only a scan releases a lock; otherwise the gateway releases it after a while. */
export const lockReturnMs = 5_000
const designersPerPage = 100
const maxDesigners = 1_000
/** A list of this length may be truncated. More than a report names, so that a new problem is found among many old ones. */
export const maxProblems = 200

/** Opens no connection before the first call. */
export function connectGateway(deps: GatewayDeps): Gateway {
  const { apiKey, renew, ca = () => undefined } = deps
  const connection: Connection = { url: deps.url.replace(/\/+$/, ''), apiKey, ca, renew }
  const send = (request: Call, signal: AbortSignal): Promise<Answer> => call(connection, request, signal)

  return {
    async status(signal) {
      try {
        const answer = await send({ method: 'GET', path: '/StatusPing', withKey: false, timeoutMs: 5_000 }, signal)
        return statusOf(answer)
      } catch {
        signal.throwIfAborted()
        return 'unreachable'
      }
    },
    async info(signal) {
      const answer = await send({ method: 'GET', path: `${api}/gateway-info` }, signal)
      return parsed(infoSchema, required(answer, 'gateway-info', 'Read'), 'gateway-info')
    },
    designers: (signal) => designersOf(send, signal),
    async lock(kinds, signal) {
      const taken: ScanKind[] = []
      try {
        for (const kind of kinds) {
          if ((await lockOne(send, kind, deps.clock, signal)) === 'unsupported') return taken.length === 0 ? 'unsupported' : 'held'
          taken.push(kind)
        }
        return 'held'
      } catch (error) {
        for (const kind of taken) await release(send, kind)
        throw error
      }
    },
    async statusOf(path, signal) {
      // Any other page may be a user's script that reads its headers; characters that a server may decode or cut could lead to one.
      const withKey = /^\/data\/api\/[\w./~-]*$/.test(new URL(connection.url + path).pathname)
      return (await send({ method: 'GET', path, withKey, headOnly: true, timeoutMs: 5_000 }, signal)).status
    },
    problems: (signal) => problemsOf(send, signal),
    async scan(kinds, signal) {
      const result: Scanned = { problems: undefined }
      for (const kind of ['projects', 'config'] as const) {
        // `scan/config` is the one route that every gateway has: without `scan/projects` it reads the projects too.
        const isDue = kinds.includes(kind) || (kind === 'config' && result.projects === undefined)
        const at = isDue ? await scanOne(send, kind, deps.clock, signal) : undefined
        if (at !== undefined) result[kind] = at
      }
      if (result.projects === undefined && result.config === undefined)
        throw new Fault('ScanFailed', `the gateway has no route ${api}/scan/config: check the address, or update the gateway`)
      // The scan has ended, whether or not the gateway then reports its problems.
      result.problems = await problemsOf(send, signal).catch(() => {
        signal.throwIfAborted()
        return undefined
      })
      return result
    },
  }
}

type Send = (request: Call, signal: AbortSignal) => Promise<Answer>

async function designersOf(send: Send, signal: AbortSignal): Promise<Designer[]> {
  const found: Designer[] = []
  for (let offset = 0; offset < maxDesigners; offset += designersPerPage) {
    const answer = await send({ method: 'GET', path: `${api}/designers?limit=${designersPerPage}&offset=${offset}` }, signal)
    if (noSuchRoute.includes(answer.status)) return []
    const page = parsed(designersSchema, required(answer, 'designers', 'Read'), 'designers')
    found.push(...page.items)
    if (page.items.length < designersPerPage || found.length >= page.metadata.matching) break
  }
  return found
}

async function lockOne(send: Send, kind: ScanKind, clock: Clock, signal: AbortSignal): Promise<'held' | 'unsupported'> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send({ method: 'POST', path: `${api}/scan-lock/${kind}`, body: lockTimes, timeoutMs: lockTimeoutMs }, signal)
    if (noSuchRoute.includes(answer.status)) return 'unsupported'
    const busy = answer.status === 408 || answer.status === 409
    if (!busy) {
      required(answer, `scan-lock/${kind}`, 'Write')
      return 'held'
    }
    if (attempt === lockAttempts) throw new Fault('GatewayNotReady', `another client holds the gateway's scan lock for ${kind}`)
    await clock.wait(lockRetryMs, signal)
  }
}

/** Releases a lock, even after the caller's signal aborted. Never throws. */
async function release(send: Send, kind: ScanKind): Promise<void> {
  const { signal } = new AbortController()
  await send({ method: 'POST', path: `${api}/scan/${kind}`, body: {}, timeoutMs: lockReturnMs }, signal).catch(() => undefined)
}

/**
 * Returns when the scan finished; undefined: the gateway has no such route. A gateway that accepts a scan and does not report its end is
 * not waited for.
 */
async function scanOne(send: Send, kind: ScanKind, clock: Clock, signal: AbortSignal): Promise<Temporal.Instant | undefined> {
  const path = `${api}/scan/${kind}`
  const read = (answer: Answer, level: 'Read' | 'Write') =>
    parsed(scanSchema, required(answer, `scan/${kind}`, level, 'ScanFailed'), `scan/${kind}`, 'ScanFailed')
  const current = await send({ method: 'GET', path }, signal)
  const before = noSuchRoute.includes(current.status) ? undefined : read(current, 'Read')
  const taken = await send({ method: 'POST', path, body: {} }, signal)
  if (noSuchRoute.includes(taken.status)) return undefined
  if (before === undefined) {
    required(taken, `scan/${kind}`, 'Write', 'ScanFailed')
    return clock.now()
  }
  read(taken, 'Write')
  const endMs = clock.monotonicMs() + scanTimeoutMs
  for (let waitMs = firstPollMs; ; waitMs = Math.min(waitMs * 2, longestPollMs)) {
    const now = read(await send({ method: 'GET', path }, signal), 'Read')
    // A later scan has another time, which is an earlier one if the gateway's clock was set back meanwhile.
    if (!now.scanActive && now.lastScanTimestamp !== before.lastScanTimestamp && now.lastScanTimestamp > 0)
      return Temporal.Instant.fromEpochMilliseconds(now.lastScanTimestamp)
    if (clock.monotonicMs() > endMs)
      throw new Fault('ScanFailed', `the gateway did not finish reading its ${kind} within ${scanTimeoutMs / 1000} s`)
    await clock.wait(waitMs, signal)
  }
}

/**
 * Problems of projects, resources and connections, then modules in quarantine; undefined if it lacks the first route, the key may not read
 * it, or it has modules in quarantine but does not name them.
 */
async function problemsOf(send: Send, signal: AbortSignal): Promise<string[] | undefined> {
  const [overview, quarantined] = await Promise.all([
    send({ method: 'GET', path: `${api}/overview/problems` }, signal),
    send({ method: 'GET', path: `${api}/modules/quarantined` }, signal),
  ])
  const found = v.safeParse(problemsSchema, jsonOrUndefined(overview.body))
  if (overview.status !== 200 || !found.success) return undefined
  const names = quarantinedModules(quarantined)
  if (names === undefined) return undefined
  return [
    ...found.output.items.map(({ message, description }) => message ?? description ?? 'a problem without a message'),
    ...names.map((name) => `module ${name} is quarantined`),
  ].slice(0, maxProblems)
}

/** Names of modules; none if the gateway lacks the route or the key may not read it, which is the same before and after an apply. */
function quarantinedModules({ status, body }: Answer): string[] | undefined {
  if (status === 403 || status === 404) return []
  const modules = v.safeParse(modulesSchema, jsonOrUndefined(body))
  return status === 200 && modules.success ? modules.output.items.map(({ name, id }) => name ?? id ?? 'without a name') : undefined
}

function statusOf({ status, body }: Answer): GatewayStatus {
  // This counts as a response: whether the gateway accepts a scan shows when it is requested.
  if (noSuchRoute.includes(status)) return 'running'
  const ping = v.safeParse(pingSchema, jsonOrUndefined(body))
  if (status !== 200 || !ping.success) return 'unreachable'
  const { state, details } = ping.output
  if (state === 'RUNNING') return details === 'COMMISSIONING' ? 'commissioning' : 'running'
  return state === 'STOPPING' ? 'stopping' : state === 'STARTING' ? 'starting' : 'faulted'
}

const count = v.pipe(v.number(), v.finite())
const scanSchema = v.object({ scanActive: v.boolean(), lastScanTimestamp: count })
const pingSchema = v.object({ state: v.string(), details: v.optional(v.string()) })
const infoSchema = v.pipe(
  v.object({
    name: v.optional(v.string(), ''),
    ignitionVersion: v.optional(v.string(), ''),
    deploymentMode: v.optional(v.nullable(v.string())),
    redundancyRole: v.optional(v.string(), ''),
  }),
  v.transform(({ ignitionVersion, deploymentMode, ...others }) => ({
    ...others,
    version: ignitionVersion,
    deploymentMode: deploymentMode === null ? '' : deploymentMode,
  })),
)
const designersSchema = v.object({
  items: v.array(v.object({ user: v.optional(v.string(), 'someone'), project: v.nullish(v.string(), '') })),
  metadata: v.object({ matching: count }),
})
const modulesSchema = v.object({ items: v.array(v.object({ name: v.optional(v.string()), id: v.optional(v.string()) })) })
const problemsSchema = v.object({ items: v.array(v.object({ message: v.optional(v.string()), description: v.optional(v.string()) })) })
