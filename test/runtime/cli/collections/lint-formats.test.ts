import t from 'tap'
import { formats, type LintResult } from '../../../../runtime/cli/collections/lint-formats.ts'
import { containsText, matchObject } from '../../../support/assertions.ts'

const style = { width: 80, color: false, symbols: false }
const place = { line: 4, column: 13, text: '  "parent": "cor"' }
const parent = { rule: 'unknown-parent' as const, severity: 'error' as const, message: 'names the parent "cor"', help: 'Name one.' }
const result: LintResult = {
  roots: ['res'],
  findings: [
    { ...parent, path: 'res/dev/config-mode.json', place },
    { ...parent, path: 'res/b:c, d.json', message: 'is 100 %\nwrong' },
    { ...parent, rule: 'unknown-collection-key', severity: 'warning', path: 'res/dev/config-mode.json', message: 'has "x"' },
  ],
  summary: { errors: 2, warnings: 1, resources: 14, collections: 4, projects: 0 },
  durationMs: 312,
}

void t.test('text: findings are grouped by file with their source line, and each help text appears once per file', async (t) => {
  t.equal(
    formats.text(result, style),
    [
      'res/dev/config-mode.json:4:13: error: names the parent "cor" (unknown-parent)',
      '       4 |   "parent": "cor"',
      '    Name one.',
      'res/dev/config-mode.json: warning: has "x" (unknown-collection-key)',
      '',
      'res/b:c, d.json: error: is 100 %\nwrong (unknown-parent)',
      '    Name one.',
      '',
      '2 errors, 1 warning in 14 resources of 4 collections (res), in 2 files, 0.3 s',
    ].join('\n'),
  )
  const summary = { ...result.summary, errors: 0, warnings: 0 }
  const clean = formats.text({ ...result, findings: [], summary, fixed: [{ rule: 'byte-order-mark', path: 'a.json' }] }, style)
  t.equal(clean, 'a.json: fixed (byte-order-mark)\n0 errors, 0 warnings in 14 resources of 4 collections (res), 0.3 s')
  const steering = {
    ...parent,
    path: 'res/\u001b[2J.json',
    message: 'has "\u001b]0;x\u0007"',
    place: { ...place, text: '\t\u009b2J\r"cor"' },
  }
  const told = formats.text({ ...result, findings: [steering] }, style)
  t.match(told, /^ {7}4 \| \t\uFFFD2J\uFFFD"cor"$/m)
  t.notMatch(told, /[^\P{Cc}\n\t]/u, 'what a file holds steers no terminal')
  containsText(t, formats.text(result, { ...style, color: true }), '\u001b[31m', 'errors are red')
})

void t.test('formats for code hosts contain the line of a finding if it is known', async (t) => {
  const github = formats.github(result).split('\n')
  t.equal(github[0], '::error file=res/dev/config-mode.json,line=4,col=13,title=unknown-parent::names the parent "cor". Name one.')
  t.equal(github[1], '::error file=res/b%3Ac%2C d.json,title=unknown-parent::is 100 %25%0Awrong. Name one.')
  const sarif = JSON.parse(formats.sarif(result)) as {
    runs: { results: { locations: { physicalLocation: { region?: object } }[] }[] }[]
  }
  t.strictSame(
    sarif.runs[0]?.results.map(({ locations }) => locations[0]?.physicalLocation.region),
    [{ startLine: 4, startColumn: 13 }, undefined, undefined],
  )
  const gitlab = JSON.parse(formats.gitlab(result)) as {
    severity: string
    fingerprint: string
    location: { lines: { begin: number } }
  }[]
  t.strictSame(
    gitlab.map(({ severity, location }) => [severity, location.lines.begin]),
    [
      ['major', 4],
      ['major', 1],
      ['minor', 1],
    ],
  )
  t.equal(new Set(gitlab.map(({ fingerprint }) => fingerprint)).size, 3)
  matchObject(t, JSON.parse(formats.json(result)), { findings: [{ line: 4, column: 13 }, {}, {}] })
})
