/**
 * Tests which changes prevent a plan from being applied.
 */
import t from 'tap'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { refusals } from '../../../../runtime/sync/plan/refusals.ts'
import { matchObject } from '../../../support/assertions.ts'

const commit = parseCommitHash('a'.repeat(40))
const other = parseCommitHash('b'.repeat(40))
const none = new Set<string>()
const input = {
  puts: none,
  owned: new Set(Array.from({ length: 40 }, (_, index) => `projects/line-1/${index}`)),
  removed: none,
  aliases: { files: new Map<string, string>(), folders: [] },
  withheld: none,
  maxDeletions: '50%',
  commit,
  confirmedDeletions: undefined,
  mode: undefined,
}
const deletes = (count: number) => Array.from({ length: count }, (_, index) => ({ path: `projects/line-1/${index}`, why: 'gone' as const }))
const reasonsOf = (...call: Parameters<typeof refusals>): string[] => refusals(...call).map(({ reason }) => reason)

void t.test('deletions beyond maxDeletions wait for a confirmation of exactly this commit', async (t) => {
  t.strictSame(reasonsOf(input, { puts: [], deletes: deletes(20) }), [], 'half of them is permitted')
  t.strictSame(reasonsOf(input, { puts: [], deletes: deletes(21) }), ['MassDeletion'])
  const thirdOfThem = { ...input, maxDeletions: '33%' }
  t.strictSame(reasonsOf(thirdOfThem, { puts: [], deletes: deletes(13) }), [], '33% of 40 files are 13.2')
  t.strictSame(reasonsOf(thirdOfThem, { puts: [], deletes: deletes(14) }), ['MassDeletion'])
  t.strictSame(reasonsOf({ ...input, confirmedDeletions: other }, { puts: [], deletes: deletes(21) }), ['MassDeletion'])
  t.strictSame(reasonsOf({ ...input, confirmedDeletions: commit }, { puts: [], deletes: deletes(21) }), [])
  t.strictSame(reasonsOf({ ...input, maxDeletions: 0 }, { puts: [], deletes: deletes(10) }), [], 'ten are harmless')
  t.strictSame(reasonsOf({ ...input, maxDeletions: 0 }, { puts: [], deletes: deletes(11) }), ['MassDeletion'])
})

void t.test('deleting a project requires a confirmation, changing only its spelling does not', async (t) => {
  const going = { puts: [], deletes: [{ path: 'projects/line-1/project.json', why: 'gone' as const }] }
  matchObject(t, refusals(input, going), [{ reason: 'ModeRemoved', message: /line-1/ }])
  t.strictSame(reasonsOf({ ...input, confirmedDeletions: commit }, going), [])
  const aliases = { files: new Map<string, string>(), folders: [{ from: 'projects/line-1', to: 'projects/Line-1' }] }
  t.strictSame(reasonsOf({ ...input, aliases }, going), [])
})

void t.test('held local changes block any plan that would overwrite or delete them', async (t) => {
  const withheld = new Set(['a', 'b', 'c', 'd', 'e', 'f'])
  const lost = { puts: ['a', 'b', 'c'].map((path) => ({ path })), deletes: ['d', 'e', 'f'].map((path) => ({ path, why: 'gone' as const })) }
  matchObject(t, refusals({ ...input, withheld }, lost), [{ reason: 'LocalChanges', message: /"a", "b", "c", "d", "e" and 1 more;/ }])
  const five = new Set([...withheld].slice(0, 5))
  matchObject(t, refusals({ ...input, withheld: five }, lost), [{ message: /: "a", "b", "c", "d", "e"; / }])
  t.strictSame(refusals({ ...input, withheld: new Set(['z']) }, lost), [])
})
