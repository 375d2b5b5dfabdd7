import t from 'tap'
import { validationSeverity, noSettings, parseSettings, repositorySeverity } from '../../../../runtime/validation/rules/severities.ts'
import { rejectsWith } from '../../../support/assertions.ts'

const settings = await parseSettings(`
rules:
  stale-signature: error
  missing-attributes: off
  orphan-file:
    - paths: ["docs/**", "**/README.md"]
      severity: off
    - severity: error
`)

void t.test('on the command line the repository sets severities, by rule and by path', async (t) => {
  const severity = repositorySeverity(settings)
  t.equal(severity('stale-signature', 'a', 'warning'), 'error')
  t.equal(severity('missing-attributes', 'a', 'error'), 'off')
  t.equal(severity('orphan-file', 'docs/a/b.md', 'warning'), 'off')
  t.equal(severity('orphan-file', 'x/.hidden/README.md', 'warning'), 'off')
  t.equal(severity('orphan-file', 'x/a', 'warning'), 'error')
  t.equal(severity('local-committed', 'a', 'warning'), 'warning')
})

void t.test('in the controller the repository may only raise severities, and the GatewaySync overrides it', async (t) => {
  const severity = validationSeverity(settings, { 'orphan-file': 'warning', 'invalid-config-mode': 'off' })
  t.equal(severity('stale-signature', 'a', 'warning'), 'error')
  t.equal(severity('missing-attributes', 'a', 'error'), 'error')
  t.equal(severity('orphan-file', 'x/a', 'warning'), 'warning')
  t.equal(severity('invalid-config-mode', 'a', 'error'), 'off')
})

void t.test('an empty file sets nothing', async (t) => {
  t.strictSame(await parseSettings(''), noSettings)
  t.strictSame(await parseSettings('# later\n'), noSettings)
  t.strictSame(await parseSettings('rules:\n'), noSettings)
})

void t.test('a glob may have 512 characters, and one for all of a folder matches the folder', async (t) => {
  const long = 'a'.repeat(512)
  const settings = await parseSettings(`rules: {orphan-file: [{paths: [${long}, "b/**"], severity: off}]}`)
  const severityOf = repositorySeverity(settings)
  for (const [path, expected] of [
    [long, 'off'],
    ['b', 'off'],
    ['b/c', 'off'],
    ['bc', 'error'],
  ] as const)
    t.equal(severityOf('orphan-file', path, 'error'), expected, path.slice(0, 5))
})

const broken: [string, string, RegExp][] = [
  ['an unknown rule', 'rules: {stale-signatures: off}', /unknown rule "stale-signatures"/],
  ['an unknown key', 'rule: {}', /unknown key "rule"/],
  ['an unknown severity', 'rules: {stale-signature: fatal}', /rules\.stale-signature.*"fatal"/],
  ['a list', '- rules', /must be a mapping/],
  ['what is not YAML', 'rules: {', /is invalid YAML/],
  ['a misspelled key of an entry', 'rules: {orphan-file: [{path: a, severity: off}]}', /rules\.orphan-file: the unknown key "path"/],
  ['paths that are no globs', 'rules: {orphan-file: [{paths: [1], severity: off}]}', /"paths" must be a list of globs/],
  ['a number beside a glob', 'rules: {orphan-file: [{paths: [a, 1], severity: off}]}', /"paths" must be a list of globs/],
  ['an empty glob', 'rules: {orphan-file: [{paths: "", severity: off}]}', /"paths" must be a list of globs/],
  ['a glob of 513 characters', `rules: {orphan-file: [{paths: ${'a'.repeat(513)}, severity: off}]}`, /"paths" must be a list of globs/],
  [
    'a glob outside the grammar',
    'rules: {orphan-file: [{paths: "**/(a+)+b", severity: off}]}',
    /"\*\*\/\(a\+\)\+b" must not contain parentheses: write \{a,b\}/,
  ],
  ['aliases', 'rules: {orphan-file: &a [{severity: off}], stale-signature: *a}', /cannot be read|is invalid YAML/],
]
for (const [what, text, message] of broken) {
  void t.test(`${what} is an error that names the place`, async (t) => {
    await rejectsWith(t, parseSettings(text), { reason: 'InvalidConfiguration', message })
  })
}
