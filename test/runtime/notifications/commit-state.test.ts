/**
 * Tests which commit status a git host receives.
 */
import t from 'tap'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { commitStateOf } from '../../../runtime/notifications/commit-state.ts'

const commit = 'a'.repeat(40)
const at = '2026-01-01T08:00:00Z'
const source = { ref: 'main', commit }
const published = { commit, ref: 'main', at }
const none = { total: 0, synced: 0, pending: 0, failed: 0, blocked: 0, drifted: 0, dryRun: 0, paused: 0, missingAgent: 0, waiting: 0 }

const rows: [what: string, status: GatewaySyncStatus, state: string | undefined, description: string | undefined][] = [
  ['nothing is known', {}, undefined, undefined],
  ['a ref that names no commit', { source: { ref: 'main' } }, undefined, undefined],
  ['a commit that waits', { source, published: { ...published, commit: 'b'.repeat(40) } }, 'pending', 'found; not published yet'],
  ['one that no gateway follows', { source, published, gateways: none }, 'success', 'published; no gateway follows yet'],
  ['some gateways', { source, published, gateways: { ...none, total: 5, synced: 2, pending: 3 } }, 'pending', 'applied on 2 of 5 gateways'],
  [
    'gateways that wait for their stage',
    { source, published, gateways: { ...none, total: 5, synced: 2, waiting: 3 } },
    'pending',
    'applied on 2 of 5 gateways',
  ],
  [
    'all, one with local changes',
    { source, published, gateways: { ...none, total: 3, synced: 2, drifted: 1 } },
    'success',
    'applied on 3 of 3 gateways',
  ],
  [
    'gateways in trouble',
    { source, published, gateways: { ...none, total: 5, synced: 2, failed: 1, blocked: 2 } },
    'failure',
    'applied on 2 of 5 gateways, 1 failed, 2 blocked',
  ],
  ['one without the right signature', { source: { ...source, held: 'NotVerified' } }, 'failure', 'refused, NotVerified'],
  [
    'one with findings, of which the first error is told',
    {
      source: { ...source, held: 'CollectionsInvalid' },
      findings: {
        errors: 2,
        warnings: 1,
        items: [
          { rule: 'r', severity: 'warning', path: 'w', message: 'a warning' },
          { rule: 'r', severity: 'error', path: 'a/b.json', message: 'is\nno JSON of https://worker:s3cret@host/' },
        ],
      },
    },
    'failure',
    'refused, CollectionsInvalid (2 errors): a/b.json: is no JSON of https://***@host/',
  ],
]

for (const [what, status, state, description] of rows) {
  void t.test(what, async (t) => {
    t.strictSame(commitStateOf(status), state === undefined ? undefined : { commit, state, description })
  })
}

void t.test('a long finding is cut to one line within the limit of the host', async (t) => {
  const items = [{ rule: 'r', severity: 'error' as const, path: 'p'.repeat(4096), message: 'm' }]
  const told = commitStateOf({ source: { ...source, held: 'CollectionsInvalid' }, findings: { errors: 1, warnings: 0, items } })
  t.equal(told?.description.length, 255)
})
