/**
 * What keeps a plan from being carried out.
 */
import t from 'tap'
import { parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { refusals } from '../../../runtime/sync/plan/refusals.ts'

const commit = parseCommitHash('a'.repeat(40))
const other = parseCommitHash('b'.repeat(40))
const none = new Set<string>()
const input = {
  puts: none,
  owned: new Set(Array.from({ length: 40 }, (_, index) => `projects/line-1/${index}`)),
  removed: none,
  aliases: { files: new Map<string, string>(), folders: [] },
  held: none,
  maxDeletions: '50%',
  commit,
  confirmedDeletions: undefined,
  mode: undefined,
}
const deletes = (count: number) => Array.from({ length: count }, (_, index) => ({ path: `projects/line-1/${index}`, why: 'gone' as const }))
const reasonsOf = (...call: Parameters<typeof refusals>): string[] => refusals(...call).map(({ reason }) => reason)

void t.test('more deletions than maxDeletions permits wait for the confirmation of exactly this commit', async (t) => {
  t.same(reasonsOf(input, { puts: [], deletes: deletes(20) }), [], 'half of them is permitted')
  t.same(reasonsOf(input, { puts: [], deletes: deletes(21) }), ['MassDeletion'])
  t.same(reasonsOf({ ...input, confirmedDeletions: other }, { puts: [], deletes: deletes(21) }), ['MassDeletion'])
  t.same(reasonsOf({ ...input, confirmedDeletions: commit }, { puts: [], deletes: deletes(21) }), [])
  t.same(reasonsOf({ ...input, maxDeletions: 0 }, { puts: [], deletes: deletes(10) }), [], 'ten are harmless')
  t.same(reasonsOf({ ...input, maxDeletions: 0 }, { puts: [], deletes: deletes(11) }), ['MassDeletion'])
})

void t.test('a project that goes is asked about, and one that only changes its spelling is not', async (t) => {
  const going = { puts: [], deletes: [{ path: 'projects/line-1/project.json', why: 'gone' as const }] }
  t.match(refusals(input, going), [{ reason: 'ModeRemoved', message: 'line-1' }])
  t.same(reasonsOf({ ...input, confirmedDeletions: commit }, going), [])
  const aliases = { files: new Map<string, string>(), folders: [{ from: 'projects/line-1', to: 'projects/Line-1' }] }
  t.same(reasonsOf({ ...input, aliases }, going), [])
})

void t.test('changes that must not be lost hold back whatever would overwrite or delete them', async (t) => {
  const held = new Set(['a', 'b', 'c', 'd', 'e', 'f'])
  const lost = { puts: ['a', 'b', 'c'].map((path) => ({ path })), deletes: ['d', 'e', 'f'].map((path) => ({ path, why: 'gone' as const })) }
  t.match(refusals({ ...input, held }, lost), [{ reason: 'LocalChanges', message: '"a", "b", "c", "d", "e" and 1 more' }])
  t.same(refusals({ ...input, held: new Set(['z']) }, lost), [])
})
