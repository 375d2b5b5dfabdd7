/**
 * Tests the conditions for any observation: the five normal ones are present, `Ready` is true only when nothing is wrong, and repeating the
 * observation changes nothing.
 */
import fc from 'fast-check'
import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { countGateways, type Gateway, type GatewayState } from '../../../../runtime/reconcile/decide/gateways.ts'
import { abnormalConditions, normalConditions } from '../../../../runtime/api/schema/conditions.ts'
import { summarize } from '../../../../runtime/reconcile/decide/summary.ts'
import { specWith } from '../../../support/gatewaysync.ts'

const [at, later] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
const [commit, older] = ['a'.repeat(40), 'b'.repeat(40)]
const states = ['synced', 'drifted', 'pending', 'failed', 'blocked', 'dryRun', 'paused', 'missingAgent'] satisfies GatewayState[]

const gateways = fc.array(fc.constantFrom<GatewayState>(...states, 'synced', 'synced'), { maxLength: 4 }).map((all) =>
  all.map((state, index): Gateway => {
    const unverified = state === 'failed' ? { unverified: `a sync was interrupted ${index}` } : {}
    return { pod: `gw-${index}`, state, reason: 'r', message: 'm', commit, mode: undefined, ...unverified }
  }),
)
const input = fc
  .record({
    policy: fc.constantFrom('Enforce' as const, 'Warn' as const, 'Off' as const),
    paused: fc.constantFrom(false, false, true),
    gateways,
    fault: fc.constantFrom(
      undefined,
      undefined,
      undefined,
      undefined,
      new Fault('GitUnreachable', 'away'),
      new Fault('RefNotFound', 'gone'),
    ),
    pending: fc.constantFrom(false, false, false, false, true),
    throttled: fc.constantFrom(undefined, 'a commit waits for validation'),
    source: fc.constantFrom(
      undefined,
      { ref: 'main', commit },
      { ref: 'main', commit },
      { ref: 'main', commit },
      { ref: 'main', commit, held: 'CollectionsInvalid' },
    ),
    published: fc.constantFrom(
      undefined,
      { commit, ref: 'main', at },
      { commit, ref: 'main', at },
      { commit, ref: 'main', at },
      { commit: older, ref: 'main', at },
    ),
    errors: fc.constantFrom(undefined, 0, 2),
  })
  .map(({ policy, paused, errors, source, published, ...rest }) => ({
    generation: 1,
    spec: specWith({ paused, validation: { policy } }),
    at,
    status: {
      ...(source === undefined ? {} : { source }),
      // A held commit is not the published one.
      ...(published === undefined || (source !== undefined && 'held' in source && published.commit === commit) ? {} : { published }),
      ...(errors === undefined ? {} : { findings: { errors, warnings: 0, items: [] } }),
      gateways: countGateways(rest.gateways),
    },
    ...rest,
  }))

void t.test('normal conditions appear once in a fixed order, and abnormal ones only while they are true', async () => {
  fc.assert(
    fc.property(input, (given) => {
      const conditions = summarize(given, [])
      const abnormal = conditions.slice(normalConditions.length)
      return (
        JSON.stringify(conditions.slice(0, normalConditions.length).map(({ type }) => type)) === JSON.stringify(normalConditions) &&
        abnormal.every(({ type, status }) => status === 'True' && abnormalConditions.some((known) => known === type)) &&
        new Set(abnormal.map(({ type }) => type)).size === abnormal.length
      )
    }),
    { numRuns: 1_000 },
  )
})

void t.test('Ready is true only if the desired commit is published and every gateway can run it', async (t) => {
  let ready = 0
  fc.assert(
    fc.property(input, (given) => {
      const [condition] = summarize(given, [])
      if (condition?.status !== 'True') return true
      ready += 1
      const { source, published } = given.status
      return (
        given.fault === undefined &&
        !given.pending &&
        !given.spec.paused &&
        source?.commit === commit &&
        source.held === undefined &&
        published?.commit === commit &&
        given.gateways.every(({ state }) => state === 'synced' || state === 'drifted')
      )
    }),
    { numRuns: 3_000 },
  )
  t.ok(ready > 20, `${ready} were ready`)
})

void t.test('FoldersUnverified is present exactly while a gateway has an unverified folder, and names the cause', async () => {
  fc.assert(
    fc.property(input, (given) => {
      const found = summarize(given, []).find(({ type }) => type === 'FoldersUnverified')
      const concerned = given.gateways.filter(({ unverified }) => unverified !== undefined)
      if (concerned.length === 0) return found === undefined
      const named = concerned.map(({ pod, unverified }) => `${pod}: ${unverified}`).join('; ')
      return found?.message === `${concerned.length} of ${given.gateways.length} gateways: ${named}`
    }),
    { numRuns: 500 },
  )
})

void t.test('Throttled is present exactly while work waits for its namespace, and changes no other condition', async () => {
  fc.assert(
    fc.property(input, (given) => {
      const throttled = summarize(given, []).filter(({ type }) => type === 'Throttled')
      const others = summarize(given, []).filter(({ type }) => type !== 'Throttled')
      const says = throttled.map(({ status, reason, message }) => `${status} ${reason} ${message}`).join()
      const expected = given.throttled === undefined ? '' : `True NamespaceShareUsed ${given.throttled}`
      return says === expected && JSON.stringify(others) === JSON.stringify(summarize({ ...given, throttled: undefined }, []))
    }),
    { numRuns: 500 },
  )
})

void t.test('Ready, Stalled and Reconciling exclude each other', async () => {
  fc.assert(
    fc.property(input, (given) => {
      const conditions = summarize(given, [])
      const has = (type: string): boolean => conditions.some((condition) => condition.type === type && condition.status === 'True')
      return [has('Ready'), has('Stalled'), has('Reconciling')].filter(Boolean).length <= 1
    }),
    { numRuns: 1_000 },
  )
})

void t.test('a repeated observation gives the same conditions, including transition times', async () => {
  fc.assert(
    fc.property(input, (given) => {
      const first = summarize(given, [])
      return JSON.stringify(summarize({ ...given, at: later }, first)) === JSON.stringify(first)
    }),
    { numRuns: 500 },
  )
})
