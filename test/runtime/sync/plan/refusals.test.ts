/**
 * Tests which changes prevent a plan from being applied.
 */
import t from 'tap'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation } from '../../../../runtime/api/names.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { refusals } from '../../../../runtime/sync/plan/refusals.ts'
import { firstBootSingletons, localSingletons, oneTimeType } from '../../../../runtime/validation/model/resource-types.ts'
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

const goneOf = (...paths: string[]) => ({ puts: [], deletes: paths.map((path) => ({ path, why: 'gone' as const })) })
const confirmation = `confirm with the annotation ${confirmDeletionsAnnotation}: ${commit}`

void t.test('what a gateway runs with is named when it is lost', async (t) => {
  const rows: [string, string | undefined, string?][] = [
    ['projects/line-1/project.json', 'the project "line-1"'],
    ['projects/line-1/other.json', undefined],
    ['projects/line-1/views/project.json', undefined],
    ['other/line-1/project.json', undefined],
    ['config/resources/dev/config-mode.json', 'its deployment mode "dev"', 'DEV'],
    ['config/resources/dev/config-mode.json', undefined, 'prod'],
    ['config/resources/dev/config-mode.json', undefined],
    ['config/resources/dev/a/config-mode.json', undefined, 'dev'],
    ['config/resources/config-mode.json', undefined, 'dev'],
    ['config/resources/core/ignition/security-levels/resource.json', 'the only ignition/security-levels of core'],
    ['config/resources/Core/ignition/security-levels/resource.json', 'the only ignition/security-levels of core'],
    ['config/resources/dev/ignition/security-levels/resource.json', undefined],
    ['config/resources/core/ignition/security-levels/config.json', undefined],
    ['config/resources/core/ignition/security-levels/a/resource.json', undefined],
    ['config/resources/core/ignition/security-levels/resource.json/a', undefined],
    ['config/resources/core/ignition/database-connection/resource.json', undefined],
    ...[...firstBootSingletons, ...localSingletons, oneTimeType].map((name): [string, undefined] => [
      `config/resources/core/${name}/resource.json`,
      undefined,
    ]),
  ]
  for (const [path, what, mode] of rows) {
    const message = `the commit removes what the gateway needs to run: ${what}; if this is intended, ${confirmation}`
    const expected = what === undefined ? [] : [{ reason: 'ModeRemoved', message }]
    t.strictSame(refusals({ ...input, mode }, goneOf(path)), expected, `${path} ${mode}`)
    t.strictSame(refusals({ ...input, mode, confirmedDeletions: commit }, goneOf(path)), [])
    t.strictSame(refusals({ ...input, mode }, { puts: [], deletes: [{ path, why: 'foreign' }] }), [], 'a file that no commit delivered')
  }
})

void t.test('a singleton of core may move to external', async (t) => {
  const going = goneOf('config/resources/Core/ignition/security-levels/resource.json')
  const external = new Set(['config/resources/external/ignition/security-levels/resource.json'])
  t.strictSame(reasonsOf({ ...input, puts: external }, going), [], 'with this commit')
  t.strictSame(reasonsOf({ ...input, owned: external }, going), [], 'it is there already')
  t.strictSame(reasonsOf({ ...input, owned: external, removed: external }, going), ['ModeRemoved'], 'it goes too')
  const moved = goneOf('config/resources/core/ignition/security-levels/resource.json', 'projects/a/project.json')
  t.strictSame(
    reasonsOf({ ...input, puts: new Set(['projects/a/project.json', ...external]) }, moved),
    [],
    'a project that is written again',
  )
})

void t.test('a respelled mode is not lost, and of many losses five are named', async (t) => {
  const path = 'config/resources/dev/config-mode.json'
  const files = new Map([['config/resources/Dev/config-mode.json', path]])
  t.strictSame(refusals({ ...input, mode: 'dev', aliases: { files, folders: [] } }, goneOf(path)), [])
  const projects = goneOf(...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `projects/${name}/project.json`))
  const named = ['a', 'b', 'c', 'd', 'e'].map((name) => `the project "${name}"`).join(', ')
  const message = `the commit removes what the gateway needs to run: ${named} and 2 more; if this is intended, ${confirmation}`
  t.strictSame(refusals(input, projects), [{ reason: 'ModeRemoved', message }])
})

void t.test('each kind of problem has its message, in one order', async (t) => {
  const going = goneOf('projects/a/project.json', ...Array.from({ length: 30 }, (_, index) => `projects/a/${index}`))
  const problems = refusals({ ...input, withheld: new Set(['projects/a/1']) }, going)
  t.strictSame(problems, [
    { reason: 'MassDeletion', message: `31 of 40 files would be deleted, more than maxDeletions 50% permits; ${confirmation}` },
    {
      reason: 'ModeRemoved',
      message: `the commit removes what the gateway needs to run: the project "a"; if this is intended, ${confirmation}`,
    },
    {
      reason: 'LocalChanges',
      message:
        'the commit would overwrite local changes on the gateway: "projects/a/1"; capture and merge the changes, ' +
        `or discard them with the annotation ${confirmOverwritesAnnotation}: ${commit}, ` +
        'which is also needed if a merged file differs from the one on the gateway',
    },
  ])
})
