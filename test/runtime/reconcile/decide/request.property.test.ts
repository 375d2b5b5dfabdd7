import fc from 'fast-check'
import t from 'tap'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import { parseRequest, supersededBy, desiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import { recordAnswer, recordOutcome } from '../../../../runtime/reconcile/decide/request-outcomes.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { parseRefName } from '../../../../runtime/api/values.ts'
import { matchObject } from '../../../support/assertions.ts'

const main = parseRefName('main')
const asked = (ref: string, id: string, specRef = 'main'): Record<string, string> => ({
  [requestAnnotations.ref]: ref,
  [requestAnnotations.id]: id,
  [requestAnnotations.specRef]: specRef,
})
/** The status after these annotations were handled. */
function decided(annotations: Record<string, string>): GatewaySyncStatus {
  const parsed = parseRequest(annotations, {})
  return parsed.kind === 'none' ? {} : { requestDigest: parsed.digest }
}
const at = '2026-01-01T00:00:00Z'

void t.test('without a request the ref of the spec is desired', async (t) => {
  t.strictSame(desiredRef(main, {}, {}), { ref: 'main', request: undefined, undecided: false })
})

void t.test('a request wins over the spec that it saw', async (t) => {
  const desired = desiredRef(main, asked('v1', 'r1'), {})
  matchObject(t, desired, { ref: 'v1', undecided: true, request: { id: 'r1' } })
})

void t.test('a request ends when spec.git.ref differs from the one it saw', async (t) => {
  matchObject(t, desiredRef(parseRefName('next'), asked('v1', 'r1'), {}), { ref: 'next', undecided: false })
})

void t.test('a request ends when its annotations are removed', async (t) => {
  const status: GatewaySyncStatus = {
    requests: [{ id: 'r1', ref: 'v1', outcome: 'Handled', at }],
    source: { ref: 'v1', requested: { ref: 'v1', id: 'r1', specRef: 'main' } },
  }
  matchObject(t, desiredRef(main, {}, status), { ref: 'main' })
})

void t.test('a refused request leaves the earlier one in force', async (t) => {
  const status: GatewaySyncStatus = {
    ...decided(asked('typo', 'r2')),
    requests: [
      { id: 'r1', ref: 'v1', outcome: 'Handled', at },
      { id: 'r2', ref: 'typo', outcome: 'Refused', reason: 'RefNotFound', at },
    ],
    source: { ref: 'v1', requested: { ref: 'v1', id: 'r1', specRef: 'main' } },
  }
  matchObject(t, desiredRef(main, asked('typo', 'r2'), status), { ref: 'v1', undecided: false, request: { id: 'r1' } })
})

void t.test('a refused request after a spec change falls back to the spec, not to an earlier request', async (t) => {
  const status: GatewaySyncStatus = {
    ...decided(asked('typo', 'r2', 'next')),
    requests: [{ id: 'r2', ref: 'typo', outcome: 'Refused', at }],
    source: { ref: 'v1', requested: { ref: 'v1', id: 'r1', specRef: 'main' } },
  }
  matchObject(t, desiredRef(parseRefName('next'), asked('typo', 'r2', 'next'), status), { ref: 'next' })
})

void t.test('a ref that git rejects is malformed and changes nothing', async (t) => {
  matchObject(t, parseRequest(asked('--upload-pack=x', 'r1'), {}), { kind: 'malformed', id: 'r1' })
  matchObject(t, desiredRef(main, asked('--upload-pack=x', 'r1'), {}), { ref: 'main' })
})

void t.test('a manual annotation needs no ID and no spec ref', async (t) => {
  matchObject(t, desiredRef(main, { [requestAnnotations.ref]: 'v2' }, {}), { ref: 'v2', undecided: true, request: { id: 'hand:v2' } })
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

void t.test('a request includes every earlier one without an outcome, and binds its own ID to its ref', async (t) => {
  const next = (
    before: Record<string, string>,
    status: GatewaySyncStatus,
    ref: string,
    id: string,
    more: { id: string; ref: string }[] = [],
  ) => supersededBy(asked(ref, id), before, status, more)
  const first = { ...asked('v1', 'r1'), [requestAnnotations.superseded]: next({}, {}, 'v1', 'r1') }
  t.equal(first[requestAnnotations.superseded], 'r1=v1')
  const second = next(first, {}, 'v2', 'r2')
  t.equal(second, 'r1=v1 r2=v2')
  const annotations = { ...asked('v2', 'r2'), [requestAnnotations.superseded]: second }
  t.equal(next(annotations, {}, 'v4', 'r4', [{ id: 'r3', ref: 'v3' }]), 'r1=v1 r2=v2 r3=v3 r4=v4')
  const answered: GatewaySyncStatus = { requests: [{ id: 'r1', ref: 'v1', outcome: 'Handled', at }] }
  t.equal(next(annotations, answered, 'v4', 'r4'), 'r2=v2 r4=v4')
  const all: GatewaySyncStatus = { ...decided(annotations), requests: ['r1', 'r2'].map((id) => ({ id, ref: 'v', outcome: 'Handled', at })) }
  t.equal(next(annotations, all, 'v4', 'r4'), 'r4=v4')
})

void t.test('an answer also answers the superseded requests, once and before it', async (t) => {
  const parsed = parseRequest({ ...asked('v2', 'r4'), [requestAnnotations.superseded]: 'r1=v2 r2=v1 nonsense =v1 r3=a..b' }, {})
  if (parsed.kind !== 'request') throw new Error('it is a request')
  const known = recordOutcome([], { id: 'r1', ref: 'v2' }, { outcome: 'Refused' }, at)
  t.strictSame(
    recordAnswer(known, parsed.request, { outcome: 'Handled' }, at).map(({ id, ref, outcome }) => [id, ref, outcome]),
    [
      ['r1', 'v2', 'Refused'],
      ['r2', 'v1', 'Superseded'],
      ['r4', 'v2', 'Handled'],
    ],
  )
})

void t.test('each of the last requests before a reconcile gets an outcome and keeps it', async () => {
  const ref = fc.constantFrom('a', 'b', 'c')
  fc.assert(
    fc.property(fc.array(fc.array(ref, { minLength: 1, maxLength: 16 }), { maxLength: 6 }), (bursts) => {
      let annotations: Record<string, string> = {}
      let status: GatewaySyncStatus = {}
      let count = 0
      for (const burst of bursts) {
        const ids = burst.map((one) => {
          const id = `r${count++}`
          annotations = { ...asked(one, id), [requestAnnotations.superseded]: supersededBy(asked(one, id), annotations, status, []) }
          return id
        })
        for (let pass = 0; pass < 3; pass++) {
          const parsed = parseRequest(annotations, status)
          if (parsed.kind !== 'request' || parsed.isDecided) continue
          status = {
            requests: recordAnswer(status.requests ?? [], parsed.request, { outcome: 'Handled' }, at),
            requestDigest: parsed.digest,
          }
        }
        const requests = status.requests ?? []
        const last = requests.slice(-ids.length).map(({ id }) => id)
        if (JSON.stringify(last) !== JSON.stringify(ids) || new Set(requests.map(({ id }) => id)).size !== requests.length) return false
      }
      return true
    }),
  )
})
