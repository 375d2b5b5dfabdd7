/**
 * Reconciles of one GatewaySync, with a git host and an API server of the test.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { requestAnnotations } from '../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { type CommitHash, isCommitHash, parseCommitHash } from '../../runtime/api/values.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { FairLimiter } from '../../runtime/platform/async/fair-limiter.ts'
import { Resolutions } from '../../runtime/reconcile/source/resolutions.ts'
import { reconcile, type ReconcileDeps, type SignatureVerdict } from '../../runtime/reconcile/reconcile.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'
import { type GatewaySyncRecord, syncKey } from '../../runtime/reconcile/store/records.ts'
import type { ResolvedCommit } from '../../runtime/reconcile/decide/source-resolution.ts'

export const commitA = parseCommitHash('a'.repeat(40))
export const commitB = parseCommitHash('b'.repeat(40))
const key = syncKey('plant', 'one')

export const spec = (ref = 'main', changes: object = {}) => ({
  git: { repo: 'https://git.example/plant.git', ref },
  polling: { enabled: false },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  ...changes,
})

/** Resolves a short name to a tag if it begins with v, else to a branch. */
export const fullNameOf = (ref: string): string =>
  ref.startsWith('refs/') || isCommitHash(ref) ? ref : `refs/${ref.startsWith('v') ? 'tags' : 'heads'}/${ref}`

export const condition = (status: GatewaySyncStatus, type: string) => status.conditions?.find((one) => one.type === type)

/** One GatewaySync, a git host whose answers the test controls, and an API server that accepts each write. */
export function setUp(given: Partial<GatewaySyncRecord> = {}) {
  const stop = new AbortController()
  const store = new Store(() => {})
  let answered = 0
  const hosts = new FairLimiter({ total: 8, clock: systemClock })
  const start = () => new Resolutions({ clock: systemClock, hosts, ready: () => (answered += 1), signal: stop.signal })
  let resolutions = start()
  const host: { ref: string; answer: PromiseWithResolvers<CommitHash> }[] = []
  let refuse: Fault | undefined
  let signatures: SignatureVerdict = { kind: 'notRequired' }
  let secretChanges = 0
  let checks = 0
  let version = 1
  let older = false
  const told = { writes: 0, events: [] as string[] }
  store.upsertSync({
    namespace: 'plant',
    name: 'one',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    annotations: {},
    spec: spec(),
    status: {},
    ...given,
  })
  const record = () => store.sync('plant', 'one') as GatewaySyncRecord
  const deps = (): ReconcileDeps => ({
    store,
    resolutions,
    clock: systemClock,
    log: silentLog,
    allowLocal: false,
    async resolve(_record, _spec, desired): Promise<ResolvedCommit> {
      const answer = Promise.withResolvers<CommitHash>()
      host.push({ ref: desired.ref, answer })
      const found = { commit: await answer.promise, committedAt: Promise.resolve(undefined), fetchedAt: '2026-01-01T00:00:00Z' }
      return { ...found, name: fullNameOf(desired.ref), tag: undefined }
    },
    async adopt() {},
    verify: async () => signatures,
    secretChanges: () => secretChanges,
    async validate() {
      checks += 1
      return { kind: 'notChecked' }
    },
    prepareValidation() {},
    delivery: () => undefined,
    async writeStatus(before, status) {
      if (refuse !== undefined) throw refuse
      told.writes += 1
      const { columns, ...others } = status
      return { ...before, resourceVersion: String((version += 1)), status: older ? others : { ...others, columns } }
    },
    recordEvents: (_record, events) => void told.events.push(...events.map(({ reason }) => reason)),
    observed() {},
    deleted() {},
  })
  const pass = () => reconcile(deps(), key, stop.signal)
  return {
    host,
    told,
    status: () => record().status,
    pass,
    /** Reconciles until the git host is asked again. */
    async passUntilAsked() {
      const [asked, startedMs] = [host.length, systemClock.monotonicMs()]
      while (host.length === asked) {
        if (systemClock.monotonicMs() - startedMs > 30_000) throw new Error('the git host is not asked again')
        await pass()
      }
    },
    change: (changes: Partial<GatewaySyncRecord>) => store.upsertSync({ ...record(), resourceVersion: String((version += 1)), ...changes }),
    sign: (verdict: SignatureVerdict) => (signatures = verdict),
    changeSecret: () => (secretChanges += 1),
    checks: () => checks,
    /** Simulates an API server with the CRD of a release before `status.columns`, which drops that field. */
    dropColumns: () => (older = true),
    refuseWrites: (fault: Fault | undefined) => (refuse = fault),
    /** Answers the newest source resolution and waits until its result is ready. */
    async answer(how: CommitHash | Fault) {
      const before = answered
      const { answer } = host.at(-1) ?? { answer: Promise.withResolvers<CommitHash>() }
      if (how instanceof Fault) answer.reject(how)
      else answer.resolve(how)
      while (answered === before) await turn()
    },
    /** Simulates another process or leader, which has no pending source resolutions. */
    restart: () => (resolutions = start()),
  }
}

export async function synced() {
  const world = setUp()
  await world.pass()
  await world.answer(commitA)
  await world.pass()
  return world
}

export const requestFor = (ref: string, id = 'r1') => ({
  [requestAnnotations.ref]: ref,
  [requestAnnotations.id]: id,
  [requestAnnotations.specRef]: 'main',
})
