/**
 * Tests the desired ref after any sequence of pushes, manual annotations, withdrawals and spec changes, decided by the real reconcile
 * logic. The newest intent wins, and every request gets an outcome.
 */
import fc from 'fast-check'
import t from 'tap'
import * as v from 'valibot'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { decide } from '../../../../runtime/reconcile/decide/decide.ts'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import { type Annotations, supersededBy, desiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { parseCommitHash, parseRefName } from '../../../../runtime/api/values.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { matchObject } from '../../../support/assertions.ts'

const start = Temporal.Instant.from('2026-01-01T00:00:00Z')
const commit = parseCommitHash('a'.repeat(40))

/** One GatewaySync and a git host that has the refs in `good`. */
function world() {
  let now = start
  let specRef = 'a'
  let annotations: Annotations = {}
  let status: GatewaySyncStatus = {}
  let good = new Set(['a', 'b', 'c', 'd'])
  const outcomes = new Map<string, string>()
  const spec = () =>
    v.parse(gatewaySyncSpec({ allowLocal: false }), {
      git: { repo: 'https://git.example/plant.git', ref: specRef },
      sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'a' }] } } },
    })
  const desired = () => desiredRef(parseRefName(specRef), annotations, status)
  return {
    specRef: () => specRef,
    status: () => status,
    annotations: () => annotations,
    desired: () => desired().ref,
    outcomes,
    setSpec: (ref: string) => (specRef = ref),
    /** Sets the refs that the git host has from now on. */
    has: (refs: readonly string[]) => (good = new Set(refs)),
    /** Writes the annotations of a push as the receiver does. */
    push(ref: string, id: string) {
      const written = {
        [requestAnnotations.ref]: ref,
        [requestAnnotations.id]: id,
        [requestAnnotations.specRef]: specRef,
        [requestAnnotations.by]: 'push',
        [requestAnnotations.at]: id,
      }
      const superseded = supersededBy(written, annotations, status, [])
      annotations = { ...annotations, ...written, [requestAnnotations.superseded]: superseded }
    },
    /**
     * Does what `kubectl annotate --overwrite` does. Returns false if nothing changed, because the controller cannot see such a request.
     */
    byHand(ref: string, at?: string): boolean {
      const next = { ...annotations, [requestAnnotations.ref]: ref, ...(at === undefined ? {} : { [requestAnnotations.at]: at }) }
      const isNewAnswer = JSON.stringify(next) !== JSON.stringify(annotations)
      annotations = next
      return isNewAnswer
    },
    withdraw() {
      const { [requestAnnotations.ref]: _ref, ...others } = annotations
      annotations = others
    },
    /** Of three reconciles the last one is past the time for which a request may be pending. */
    pass() {
      now = now.add({ seconds: 70 })
      const present = desired()
      const isGood = good.has(present.ref)
      const fault = new Fault('RefNotFound', 'no such ref')
      status = decide({
        generation: 1,
        spec: spec(),
        annotations,
        status,
        desired: present,
        source: isGood
          ? {
              kind: 'resolved',
              commit,
              committedAt: undefined,
              fetchedAt: now.toString(),
              verified: undefined,
              verdict: { kind: 'notChecked' },
              durationMs: 1,
            }
          : { kind: 'fault', fault },
        pods: [],
        reports: new Map(),
        delivery: undefined,
        now,
      }).status
      for (const { id, outcome } of status.requests ?? []) if (outcome !== 'Pending') outcomes.set(id, outcome)
    },
  }
}

type Move =
  { kind: 'spec' | 'push' | 'hand' | 'handWithTime'; ref: string; good: boolean; passes: number } | { kind: 'withdraw'; passes: number }

const ref = fc.constantFrom('a', 'b', 'c')
const move = (least: number): fc.Arbitrary<Move> =>
  fc.oneof(
    fc.record({
      kind: fc.constantFrom('spec' as const, 'push' as const, 'hand' as const, 'handWithTime' as const),
      ref,
      good: fc.boolean(),
      passes: fc.integer({ min: least, max: 4 }),
    }),
    fc.record({ kind: fc.constant('withdraw' as const), passes: fc.integer({ min: least, max: 4 }) }),
  )

void t.test('the newest intent wins, and each request gets an outcome', async () => {
  fc.assert(
    fc.property(fc.array(move(3), { maxLength: 12 }), (moves) => {
      const { has, push, byHand, setSpec, withdraw, pass, desired, specRef, status } = world()
      /** The ref that should be desired: that of the spec or of a request. A manual request survives a spec change. */
      let expected: { ref: string; byHand: boolean } | undefined
      for (const [index, one] of moves.entries()) {
        const before = status().requests?.at(-1)?.id
        let isNewAnswer = false
        if (one.kind === 'withdraw') {
          withdraw()
          expected = undefined
        } else if (one.kind === 'spec') {
          has(['a', 'b', 'c'])
          if (one.ref !== specRef() && expected?.byHand !== true) expected = undefined
          setSpec(one.ref)
        } else {
          const current = expected?.ref ?? specRef()
          has(one.good ? ['a', 'b', 'c'] : ['a', 'b', 'c'].filter((name) => name !== one.ref))
          if (one.kind === 'push') push(one.ref, `r${index}`)
          isNewAnswer = one.kind === 'push' || byHand(one.ref, one.kind === 'hand' ? undefined : `t${index}`)
          if (isNewAnswer && (one.good || one.ref === current)) {
            const keeps = !one.good
            expected = keeps ? expected : { ref: one.ref, byHand: one.kind !== 'push' }
          }
        }
        for (let count = 0; count < one.passes; count++) pass()
        const newest = status().requests?.at(-1)
        if (desired() !== (expected?.ref ?? specRef())) return false
        if (isNewAnswer && (newest?.id === before || newest?.outcome !== ('good' in one && one.good ? 'Handled' : 'Refused'))) return false
        has(['a', 'b', 'c'])
      }
      return true
    }),
    { numRuns: 500 },
  )
})

void t.test('every push gets an outcome, however its annotations are edited before the next reconcile', async () => {
  fc.assert(
    fc.property(fc.array(move(0), { maxLength: 12 }), (moves) => {
      const { has, push, byHand, setSpec, withdraw, pass, outcomes } = world()
      const ids: string[] = []
      for (const [index, one] of moves.entries()) {
        if (one.kind === 'withdraw') withdraw()
        else if (one.kind === 'spec') setSpec(one.ref)
        else {
          has(one.good ? ['a', 'b', 'c'] : [])
          if (one.kind === 'push') {
            ids.push(`r${index}`)
            push(one.ref, `r${index}`)
          } else byHand(one.ref, one.kind === 'hand' ? undefined : `t${index}`)
        }
        for (let count = 0; count < one.passes; count++) pass()
      }
      has(['a', 'b', 'c'])
      for (let count = 0; count < 4; count++) pass()
      return ids.every((id) => outcomes.has(id))
    }),
    { numRuns: 500 },
  )
})

void t.test('a manual request takes effect after any earlier request', async (t) => {
  const rows: [string, (given: ReturnType<typeof world>) => void][] = [
    ['nothing', () => {}],
    ['a push, whose id and spec ref stay behind', ({ push, pass }) => (push('a', 'r1'), pass())],
    ['a push that nobody has looked at yet', ({ push }) => push('a', 'r1')],
    ['a push for an older spec', ({ push, pass, setSpec }) => (push('a', 'r1'), pass(), setSpec('c'), pass())],
    ['the same ref by hand, then another', ({ byHand, pass }) => (byHand('b'), pass(), byHand('c'), pass())],
    ['the same ref by hand, taken away', ({ byHand, withdraw, pass }) => (byHand('b'), pass(), withdraw(), pass())],
    ['the same ref, refused, then another', ({ byHand, has, pass }) => (has(['a']), byHand('b'), pass(), byHand('a'), pass())],
    [
      'the same ref released by a host, and the spec changed',
      ({ push, pass, setSpec, withdraw }) => (push('b', 'r1'), pass(), setSpec('c'), pass(), withdraw(), pass()),
    ],
  ]
  for (const [name, before] of rows) {
    const given = world()
    given.pass()
    before(given)
    const known = new Set(given.status().requests?.map(({ id }) => id))
    given.has(['a', 'b', 'c'])
    given.byHand('b')
    given.pass()
    matchObject(t, given.status().source, { ref: 'b', requested: { ref: 'b' } }, name)
    const newest = given.status().requests?.at(-1)
    matchObject(t, newest, { ref: 'b', outcome: 'Handled' }, name)
    t.notOk(known.has(newest?.id ?? ''), `${name}: an outcome of its own`)
    const after = given.status()
    given.pass()
    t.strictSame(given.status().requests, after.requests, `${name}: answered once`)
  }
})
