/**
 * Tests which status changes cause a notice, and how notices are merged into one message.
 */
import t from 'tap'
import type { Condition, GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { type Bundle, bundled, type Notice, noticesOf } from '../../../runtime/notifications/notices.ts'
import { matchObject } from '../../support/assertions.ts'

const at = '2026-01-01T08:00:00Z'
const [first, second] = ['a'.repeat(40), 'b'.repeat(40)]

function statusOf(commit: string, ready: Pick<Condition, 'status' | 'reason'>, more: GatewaySyncStatus = {}): GatewaySyncStatus {
  return {
    source: { ref: 'main', commit },
    published: { commit, ref: 'main', at },
    conditions: [{ type: 'Ready', message: `message of ${ready.reason}`, lastTransitionTime: at, ...ready }],
    ...more,
  }
}

const synced = { status: 'True', reason: 'Synced' } as const
const pending = { status: 'False', reason: 'GatewaysPending' } as const
const failed = { status: 'False', reason: 'GatewaysFailed' } as const
const unknown = { status: 'Unknown', reason: 'Pending' } as const
const invalid = { status: 'False', reason: 'CollectionsInvalid' } as const
const held = statusOf(second, invalid, {
  source: { ref: 'main', commit: second, held: 'CollectionsInvalid' },
  published: { commit: first, ref: 'main', at },
})
const refusal = { id: 'r', ref: 'other', outcome: 'Refused', reason: 'RefNotAllowed', message: 'no', at } as const

const rows: [what: string, before: GatewaySyncStatus, after: GatewaySyncStatus, told: string[]][] = [
  ['a resource that nobody has looked at yet', {}, statusOf(first, unknown), []],
  ['a first commit that runs', statusOf(first, unknown), statusOf(first, synced), ['Ready Synced']],
  ['the same again', statusOf(first, synced), statusOf(first, synced), []],
  ['another commit at once', statusOf(first, synced), statusOf(second, synced), ['Ready Synced']],
  ['a commit on its way', statusOf(first, synced), statusOf(second, pending), ['NotReady GatewaysPending']],
  ['a gateway that fails', statusOf(first, pending), statusOf(first, failed), ['Failed GatewaysFailed']],
  ['a gateway that goes on failing', statusOf(first, failed), statusOf(first, failed), []],
  [
    'a git host that refuses',
    statusOf(first, synced),
    statusOf(first, { status: 'False', reason: 'GitUnauthorized' }),
    ['Failed GitUnauthorized'],
  ],
  ['a refused commit', statusOf(first, synced), held, ['Refused CollectionsInvalid']],
  ['the same refused commit', held, held, []],
  ['a refused request', statusOf(first, synced), statusOf(first, synced, { requests: [refusal] }), ['Refused RefNotAllowed']],
  [
    'a request that was refused before',
    statusOf(first, synced, { requests: [refusal] }),
    statusOf(first, synced, { requests: [refusal] }),
    [],
  ],
  [
    'a request for a commit that is refused is told once',
    statusOf(first, synced),
    { ...held, requests: [{ ...refusal, reason: 'CollectionsInvalid' }] },
    ['Refused CollectionsInvalid'],
  ],
]

for (const [what, before, after, told] of rows) {
  void t.test(what, async (t) => {
    const notices = noticesOf({ namespace: 'plant', name: 'line', status: before }, after, at)
    t.strictSame(
      notices.map(({ kind, reason }) => `${kind} ${reason}`),
      told,
    )
    for (const { namespace, name, at: when } of notices) t.strictSame([namespace, name, when], ['plant', 'line', at])
  })
}

void t.test('a notice names commit, ref and request, and omits credentials of a URL', async (t) => {
  const conditions: Condition[] = [
    {
      type: 'Ready',
      status: 'False',
      reason: 'GitUnauthorized',
      message: `https://worker:s3cret@host/ ${'m'.repeat(5_000)}`,
      lastTransitionTime: at,
    },
  ]
  const source = { ref: 'main', commit: first, requested: { ref: 'main', id: 'push-1', specRef: 'main' } }
  const [notice] = noticesOf(
    { namespace: 'plant', name: 'line', status: statusOf(first, synced) },
    statusOf(first, synced, { source, conditions }),
    at,
  )
  matchObject(t, notice, { kind: 'Failed', commit: first, ref: 'main', requestId: 'push-1' })
  t.match(notice?.message, /^https:\/\/\*\*\*@host\/ m+…$/)
  t.equal(notice?.message.length, 1_001 - 'worker:s3cret'.length + 3)
})

const notice = (kind: Notice['kind'], name: string, reason = 'r'): Notice => ({ kind, namespace: 'plant', name, at, reason, message: 'm' })
const bundle = (...notices: Notice[]): Bundle => ({ notices, more: 0 })

void t.test('of several notices of one kind about one GatewaySync only the last is kept, in order of arrival', async (t) => {
  t.strictSame(
    bundled(bundle(notice('Failed', 'a', '1'), notice('Ready', 'b')), bundle(notice('Failed', 'a', '2'))),
    bundle(notice('Ready', 'b'), notice('Failed', 'a', '2')),
  )
})

void t.test('a message lists fifty notices and counts the rest', async (t) => {
  const many = bundle(...Array.from({ length: 40 }, (_, index) => notice('Failed', `a${index}`)))
  const others = bundle(...Array.from({ length: 40 }, (_, index) => notice('Failed', `b${index}`)))
  const both = bundled(bundled(many, others), bundle(notice('Ready', 'c')))
  t.equal(both.notices.length, 50)
  t.equal(both.more, 31)
  t.equal(both.notices.at(-1)?.name, 'c', 'the newest are told')
})

void t.test('a namespace with many notices does not push out the notices of others', async (t) => {
  const other: Notice = { ...notice('Failed', 'line'), namespace: 'other' }
  const many = Array.from({ length: 60 }, (_, index) => notice('Failed', `a${index}`))
  t.strictSame(bundled(bundle(other), bundle(...many)), { notices: [other, ...many.slice(11)], more: 11 })
})
