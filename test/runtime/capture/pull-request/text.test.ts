/**
 * The text of a pull request: differences without secrets, within the host's limit, and without text that the host interprets as markup.
 */
import fc from 'fast-check'
import t from 'tap'
import { writePullRequestText, type CaptureSummary } from '../../../../runtime/capture/pull-request/text.ts'

const file = (path: string, before: string | undefined, after: string | undefined): CaptureSummary['files'][number] => ({
  path,
  before: before === undefined ? undefined : Buffer.from(before),
  after: after === undefined ? undefined : Buffer.from(after),
})
const told = (more: Partial<CaptureSummary>): CaptureSummary => {
  const files = more.files ?? []
  return { gateway: 'gw-0', baseCommit: 'a'.repeat(40), files, changed: files.length, findings: [], skipped: [], ...more }
}

void t.test('the text names the gateway, findings, omitted files and each difference, with secrets hidden', async (t) => {
  const { title, text } = writePullRequestText(
    told({
      files: [
        file('view.json', '{\n"text": "Start",\n"password": "of the day"\n}', '{\n"text": "Run",\n"password": "of the night"\n}'),
        file('new.txt', undefined, 'added'),
        file('gone.txt', 'removed', undefined),
        file('image.png', '\0', '\0\0'),
      ],
      findings: [{ path: 'view.json', message: 'is odd', rule: 'odd-view' }],
      skipped: [{ path: 'made.json', message: 'is made by a template' }],
    }),
    30_000,
  )
  t.equal(title, 'Capture local changes of gw-0 (4 files)')
  for (const part of [
    'gateway gw-0',
    'view.json: is odd (odd-view)',
    'made.json is made by a template',
    '-"text": "Start",',
    '+"text": "Run",',
  ])
    t.ok(text.includes(part), part)
  for (const part of ['+++ b/new.txt\n+added', '--- a/gone.txt\n+++ /dev/null\n-removed', '+++ b/image.png\n(not shown)'])
    t.ok(text.includes(part), part)
  t.notMatch(text, /of the (?:day|night)/)
})

void t.test('for any names and contents the text stays within the limit and untrusted text stays in code fences', async () => {
  const any = fc.string({ unit: fc.constantFrom('`', '```', '~', '\n', '@team', '/close', 'a', '\t', '# ', '\0', '€'), maxLength: 40 })
  const captured = fc.record({
    gateway: any,
    findings: fc.array(fc.record({ path: any, message: any, rule: any }), { maxLength: 5 }),
    skipped: fc.array(fc.record({ path: any, message: any }), { maxLength: 5 }),
    files: fc.array(
      fc.tuple(any, any, any).map(([path, before, after]) => file(path, before, after)),
      { maxLength: 8 },
    ),
  })
  fc.assert(
    fc.property(captured, fc.integer({ min: 400, max: 6_000 }), (more, maxText) => {
      const { text } = writePullRequestText(told(more), maxText)
      let fence: string | undefined
      const outside: string[] = []
      for (const line of text.split('\n')) {
        const [run] = /^`{3,}/.exec(line) ?? []
        if (fence === undefined && run !== undefined) fence = run
        else if (fence !== undefined && line === fence) fence = undefined
        else if (fence === undefined) outside.push(line)
      }
      return text.length <= maxText && fence === undefined && !/@team|\/close|#|€/.test(outside.join('\n'))
    }),
    { numRuns: 300 },
  )
})
