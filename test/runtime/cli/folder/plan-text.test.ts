import t from 'tap'
import { isQuiet, type PlanReport, planText } from '../../../../runtime/cli/folder/plan-text.ts'
import { containsText } from '../../../support/assertions.ts'

const plain = { width: 120, color: false, symbols: false }
const commit = 'ab'.repeat(20)
const nothing: PlanReport = {
  commit,
  ref: 'main',
  mode: { name: 'prod', from: 'Gateway' },
  counts: { added: 0, changed: 0, removed: 0 },
  changes: [],
  problems: [],
  findings: [],
  drift: undefined,
  checked: undefined,
}
const many: PlanReport = {
  ...nothing,
  counts: { added: 40, changed: 1, removed: 0 },
  changes: [
    ...Array.from({ length: 40 }, (_, index) => ({ op: 'add' as const, path: `projects/plant/views/page${index}/view.json`, diff: '+{}' })),
    { op: 'change', path: 'projects/plant/project.json', diff: '-a\n+b' },
  ],
}

void t.test('a plan without changes is one line with exit code 0', async (t) => {
  t.strictSame(planText(nothing, 'grouped', plain), [
    '0 to add, 0 to change, 0 to remove, with mode "prod" (from the running gateway), at abababab of main',
  ])
  containsText(
    t,
    planText({ ...nothing, mode: { name: 'prod', from: 'Target', lastKnown: true } }, 'grouped', plain)[0],
    'with mode "prod" (from the last sync)',
  )
  t.ok(isQuiet(nothing))
})

void t.test('few files are shown with their lines, many are grouped by folder, and a summary only counts', async (t) => {
  const few = { ...many, changes: many.changes.slice(-1) }
  t.strictSame(planText(few, 'grouped', plain).slice(0, -1), ['~ projects/plant/project.json', '    -a', '    +b'])
  t.strictSame(planText(many, 'grouped', plain).slice(0, -1), [
    '+ projects/plant/views/  +40',
    '~ projects/plant/  ~1',
    '  to list every file with its changes, use --full or --format json',
  ])
  t.equal(planText(many, 'full', plain).length, 2 * 40 + 3 + 1)
  t.equal(planText(many, 'summary', plain).length, 1)
  t.notOk(isQuiet(many))
})

void t.test('validation errors and plan problems are shown with the next step', async (t) => {
  const item = {
    severity: 'error' as const,
    rule: 'unknown-parent',
    path: 'resources/dev/config-mode.json',
    line: 6,
    message: 'names the parent "cor"',
  }
  const checked = { errors: 2, warnings: 0, items: [item], refused: true }
  const problems = [{ reason: 'MappingConflict', message: 'two mappings give a.txt' }]
  const refused = { ...nothing, checked, problems }
  t.strictSame(planText(refused, 'grouped', plain).slice(0, -1), [
    '! resources/dev/config-mode.json:6: error: names the parent "cor" (unknown-parent)',
    '! and 1 more: cluster-sync lint shows all',
    '! would be refused: validation of abababab found 2 errors (CollectionsInvalid)',
    '  next: Run `cluster-sync lint` in the repository, fix what it reports, and push.',
    '! would be refused: two mappings give a.txt (MappingConflict)',
    '  next: Change one of the two mappings or paths, so that each file has one source.',
  ])
  t.notOk(isQuiet(refused))
  t.ok(isQuiet({ ...nothing, checked: { ...checked, refused: false } }), 'a policy that only reports refuses nothing')
})

void t.test('local changes, findings and a missing mode are shown', async (t) => {
  const paths = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const findings = [{ rule: 'mode-unknown', path: '', message: 'no deployment mode was found' }]
  const lines = planText({ ...nothing, mode: { name: '', from: 'None' }, drift: { count: 7, paths }, findings }, 'grouped', plain)
  t.match(
    lines[0],
    /^! 7 managed files were changed or deleted locally: a, b, c, d, e and 2 more; a sync keeps these changes in files that the commit does not change,.*\(Drifted\)$/,
  )
  t.equal(lines[1], '! no deployment mode was found (mode-unknown)')
  containsText(t, lines[2], 'with no deployment mode, at abababab of main')
})

void t.test('a terminal gets colors', async (t) => {
  const [added = ''] = planText(many, 'full', { ...plain, color: true })
  t.equal(added.replaceAll('\u001b', '<esc>'), '<esc>[32m+ projects/plant/views/page0/view.json<esc>[0m')
})
