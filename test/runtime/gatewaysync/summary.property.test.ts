/**
 * Whatever was observed: the five conditions are there, `Ready` is true only when nothing is wrong, and looking again changes nothing.
 */
import fc from 'fast-check'
import t from 'tap'
import { Fault } from '../../../runtime/fault.ts'
import { countGateways, type Gateway, type GatewayState } from '../../../runtime/gatewaysync/decide/gateways.ts'
import { abnormalConditions, normalConditions } from '../../../runtime/gatewaysync/decide/conditions.ts'
import { summarise } from '../../../runtime/gatewaysync/decide/summary.ts'
import { specWith } from '../../support/gatewaysync.ts'

const [at, later] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
const [commit, older] = ['a'.repeat(40), 'b'.repeat(40)]
const states = ['synced', 'drifted', 'pending', 'failed', 'blocked', 'dryRun', 'paused', 'missingAgent'] satisfies GatewayState[]

const gateways = fc
  .array(fc.constantFrom<GatewayState>(...states, 'synced', 'synced'), { maxLength: 4 })
  .map((all) => all.map((state, index): Gateway => ({ pod: `gw-${index}`, state, reason: 'r', message: 'm', commit, mode: undefined })))
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
      // A commit that is held back is not the published one.
      ...(published === undefined || (source !== undefined && 'held' in source && published.commit === commit) ? {} : { published }),
      ...(errors === undefined ? {} : { findings: { errors, warnings: 0, items: [] } }),
      gateways: countGateways(rest.gateways),
    },
    ...rest,
  }))

void t.test('the normal conditions are always there in one order, each once, and an abnormal one only while it is true', async () => {
  fc.assert(
    fc.property(input, (given) => {
      const conditions = summarise(given, [])
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

void t.test('Ready is true only where the wanted commit is published and nothing keeps it from any gateway', async (t) => {
  let ready = 0
  fc.assert(
    fc.property(input, (given) => {
      const [condition] = summarise(given, [])
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

void t.test('Stalled and Reconciling exclude each other, and neither goes with Ready', async () => {
  fc.assert(
    fc.property(input, (given) => {
      const conditions = summarise(given, [])
      const has = (type: string): boolean => conditions.some((condition) => condition.type === type && condition.status === 'True')
      return [has('Ready'), has('Stalled'), has('Reconciling')].filter(Boolean).length <= 1
    }),
    { numRuns: 1_000 },
  )
})

void t.test('the same observation later gives the same conditions, transition times included', async () => {
  fc.assert(
    fc.property(input, (given) => {
      const first = summarise(given, [])
      return JSON.stringify(summarise({ ...given, at: later }, first)) === JSON.stringify(first)
    }),
    { numRuns: 500 },
  )
})
