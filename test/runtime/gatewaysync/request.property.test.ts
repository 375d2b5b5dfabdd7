import fc from 'fast-check'
import t from 'tap'
import { requestAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { carriedOver, parseRequest, recordAnswer, recordOutcome, wantedRef } from '../../../runtime/gatewaysync/request.ts'
import type { GatewaySyncStatus } from '../../../runtime/gatewaysync/status.ts'
import { parseRefName } from '../../../runtime/gatewaysync/values.ts'

const main = parseRefName('main')
const asked = (ref: string, id: string, specRef = 'main'): Record<string, string> => ({
  [requestAnnotations.ref]: ref,
  [requestAnnotations.id]: id,
  [requestAnnotations.specRef]: specRef,
})
const at = '2026-01-01T00:00:00Z'

void t.test('without a request the ref of the spec is wanted', async (t) => {
  t.strictSame(wantedRef(main, {}, {}), { ref: 'main', request: undefined, undecided: false })
})

void t.test('a request wins over the spec that it saw', async (t) => {
  const wanted = wantedRef(main, asked('v1', 'r1'), {})
  t.match(wanted, { ref: 'v1', undecided: true, request: { id: 'r1' } })
})

void t.test('a request ends when spec.git.ref differs from the one it saw', async (t) => {
  t.match(wantedRef(parseRefName('next'), asked('v1', 'r1'), {}), { ref: 'next', undecided: false })
})

void t.test('a request ends when its annotations are removed', async (t) => {
  const status: GatewaySyncStatus = {
    requests: [{ id: 'r1', ref: 'v1', outcome: 'Handled', at }],
    source: { ref: 'v1', requested: { ref: 'v1', id: 'r1', specRef: 'main' } },
  }
  t.match(wantedRef(main, {}, status), { ref: 'main' })
})

void t.test('a refused request leaves the one before it in force', async (t) => {
  const status: GatewaySyncStatus = {
    requests: [
      { id: 'r1', ref: 'v1', outcome: 'Handled', at },
      { id: 'r2', ref: 'typo', outcome: 'Refused', reason: 'RefNotFound', at },
    ],
    source: { ref: 'v1', requested: { ref: 'v1', id: 'r1', specRef: 'main' } },
  }
  t.match(wantedRef(main, asked('typo', 'r2'), status), { ref: 'v1', undecided: false, request: { id: 'r1' } })
})

void t.test('a refused request after a change of the spec falls back to the spec, not to a request of before', async (t) => {
  const status: GatewaySyncStatus = {
    requests: [{ id: 'r2', ref: 'typo', outcome: 'Refused', at }],
    source: { ref: 'v1', requested: { ref: 'v1', id: 'r1', specRef: 'main' } },
  }
  t.match(wantedRef(parseRefName('next'), asked('typo', 'r2', 'next'), status), { ref: 'next' })
})

void t.test('a ref that git would not accept is malformed and changes nothing', async (t) => {
  t.match(parseRequest(asked('--upload-pack=x', 'r1')), { kind: 'malformed', id: 'r1' })
  t.match(wantedRef(main, asked('--upload-pack=x', 'r1'), {}), { ref: 'main' })
})

void t.test('an annotation by hand needs no id and no spec ref', async (t) => {
  t.match(wantedRef(main, { [requestAnnotations.ref]: 'v2' }, {}), { ref: 'v2', undecided: true, request: { id: 'ref:v2' } })
})

void t.test('the newest intent wins, whatever came before', async () => {
  type Step = { kind: 'spec'; ref: string } | { kind: 'request'; ref: string; good: boolean }
  const ref = fc.constantFrom('a', 'b', 'c', 'd')
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('spec' as const), ref }),
    fc.record({ kind: fc.constant('request' as const), ref, good: fc.boolean() }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let spec = 'a'
      let annotations: Record<string, string> = {}
      let status: GatewaySyncStatus = {}
      let expected = 'a'
      for (const [index, move] of steps.entries()) {
        if (move.kind === 'spec') {
          if (move.ref !== spec) expected = move.ref
          spec = move.ref
        } else {
          annotations = asked(move.ref, `r${index}`, spec)
          if (move.good) expected = move.ref
        }
        // The controller decides between any two moves, as it does in a passing cluster.
        for (let pass = 0; pass < 2; pass++) {
          const wanted = wantedRef(parseRefName(spec), annotations, status)
          const refused = wanted.undecided && move.kind === 'request' && !move.good
          const requests =
            wanted.request === undefined
              ? (status.requests ?? [])
              : recordOutcome(status.requests ?? [], wanted.request, { outcome: refused ? 'Refused' : 'Handled' }, at)
          status = { ...status, requests }
          if (refused) continue
          const { request } = wanted
          status.source = { ref: wanted.ref }
          if (request !== undefined) status.source.requested = { ref: request.ref, id: request.id, specRef: request.specRef }
        }
        if (wantedRef(parseRefName(spec), annotations, status).ref !== expected) return false
      }
      return true
    }),
  )
})

void t.test('a request is answered once, and the list of answers is bounded', async (t) => {
  let requests = recordOutcome([], { id: 'r', ref: 'v' }, { outcome: 'Handled' }, at)
  requests = recordOutcome(requests, { id: 'r', ref: 'v' }, { outcome: 'Refused' }, at)
  t.strictSame(
    requests.map(({ outcome }) => outcome),
    ['Handled'],
  )
  for (let i = 0; i < 50; i++) requests = recordOutcome(requests, { id: `r${i}`, ref: 'v' }, { outcome: 'Handled' }, at)
  t.equal(requests.length, 20)
  t.equal(requests.at(-1)?.id, 'r49')
})

void t.test('a request carries on every one before it that has no outcome yet', async (t) => {
  const first = { ...asked('v1', 'r1'), [requestAnnotations.earlier]: carriedOver({}, {}, []) ?? '' }
  t.equal(first[requestAnnotations.earlier], '')
  const second = carriedOver(first, {}, [])
  t.equal(second, 'r1=v1')
  const annotations = { ...asked('v2', 'r2'), [requestAnnotations.earlier]: second ?? '' }
  t.equal(carriedOver(annotations, {}, [{ id: 'r3', ref: 'v3' }]), 'r1=v1 r2=v2 r3=v3')
  const answered: GatewaySyncStatus = { requests: [{ id: 'r1', ref: 'v1', outcome: 'Handled', at }] }
  t.equal(carriedOver(annotations, answered, []), 'r2=v2')
  const all: GatewaySyncStatus = { requests: ['r1', 'r2'].map((id) => ({ id, ref: 'v', outcome: 'Handled', at })) }
  t.equal(carriedOver(annotations, all, []), null)
})

void t.test('with an answer those that were overtaken are answered too, once, before it', async (t) => {
  const parsed = parseRequest({ ...asked('v2', 'r4'), [requestAnnotations.earlier]: 'r1=v2 r2=v1 nonsense =v1 r3=a..b' })
  if (parsed.kind !== 'request') throw new Error('it is a request')
  const known = recordOutcome([], { id: 'r1', ref: 'v2' }, { outcome: 'Refused' }, at)
  t.same(
    recordAnswer(known, parsed.request, { outcome: 'Handled' }, at).map(({ id, ref, outcome }) => [id, ref, outcome]),
    [
      ['r1', 'v2', 'Refused'],
      ['r2', 'v1', 'Superseded'],
      ['r4', 'v2', 'Handled'],
    ],
  )
})

void t.test('however many requests come before the next pass, each of the last ones gets an outcome, and keeps it', async () => {
  const ref = fc.constantFrom('a', 'b', 'c')
  fc.assert(
    fc.property(fc.array(fc.array(ref, { minLength: 1, maxLength: 16 }), { maxLength: 6 }), (bursts) => {
      let annotations: Record<string, string> = {}
      let requests: NonNullable<GatewaySyncStatus['requests']> = []
      let count = 0
      for (const burst of bursts) {
        const ids = burst.map((one) => {
          const id = `r${count++}`
          annotations = { ...asked(one, id), [requestAnnotations.earlier]: carriedOver(annotations, { requests }, []) ?? '' }
          return id
        })
        for (let pass = 0; pass < 3; pass++) {
          const parsed = parseRequest(annotations)
          if (parsed.kind === 'request') requests = recordAnswer(requests, parsed.request, { outcome: 'Handled' }, at)
        }
        const last = requests.slice(-ids.length).map(({ id }) => id)
        if (JSON.stringify(last) !== JSON.stringify(ids) || new Set(requests.map(({ id }) => id)).size !== requests.length) return false
      }
      return true
    }),
  )
})
