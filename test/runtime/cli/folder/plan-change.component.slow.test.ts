/**
 * `cluster-sync plan --base`: what a branch would change on gateways, run in a clone as in a CI pipeline.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { containsText, lacksText, matchObject } from '../../../support/assertions.ts'
import { makeRepository, type Repository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { runCli } from '../../../support/run-cli.ts'
import { writeGatewaySync } from '../../../support/standalone-run.ts'

const mode = (parent: string): string =>
  `${JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent }, undefined, 2)}\n`
const tree = {
  'resources/core/config-mode.json': mode('external'),
  'resources/dev/config-mode.json': mode('core'),
  'resources/prod/config-mode.json': mode('core'),
  'projects/line/project.json': '{"title": "Line"}\n',
}
const profile = { collections: { root: 'resources', mode: 'auto' }, mappings: [{ source: 'projects', destination: 'projects' }] }

type Report = {
  gateways: { profile: string; modes: string[]; counts: object; changes: { op: string; path: string }[]; problems: { reason: string }[] }[]
  findings: { rule: string; path: string; place?: { line: number } }[]
  gone: number
}

function setUp(t: Test, name: string): { repository: Repository; plan: (...args: string[]) => ReturnType<typeof runCli> } {
  const folder = temporaryFolder(t, name)
  const repository = makeRepository(path.join(folder, 'plant'))
  const file = writeGatewaySync(folder, { repo: 'https://git.example/plant.git', profile })
  return { repository, plan: (...args) => runCli(['plan', '-f', file, '--path', repository.folder, ...args]) }
}

void t.test('the plan lists the changes per mode, and modes with the same changes are grouped', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, plan } = setUp(t, 'change')
  repository.commit(tree)
  repository.git('checkout', '-q', '-b', 'work')
  repository.commit({ 'resources/prod/notes.txt': 'new', 'projects/line/project.json': '{"title": "Press line", "password": "hunter2"}\n' })
  repository.git('checkout', '-q', 'main')
  repository.commit({ 'projects/line/other.txt': 'of somebody else, on main meanwhile' })
  repository.git('checkout', '-q', 'work')
  const { code, stdout, stderr } = await plan('--base', 'main', '--format', 'json')
  matchObject(t, { code, stderr }, { code: 0, stderr: '' }, 'a change is no failure')
  const { gateways, gone } = JSON.parse(stdout) as Report
  t.equal(gone, 0)
  matchObject(t, gateways, [
    { profile: 'default', modes: ['dev'], counts: { added: 0, changed: 1, removed: 0 }, changes: [{ path: 'projects/line/project.json' }] },
    { modes: ['prod'], counts: { added: 1, changed: 1, removed: 0 }, changes: [{ path: 'config/resources/prod/notes.txt' }, {}] },
  ])
  t.notMatch(stdout, /hunter2|other\.txt/, 'no secret, and nothing of the other branch')
  const text = await plan('--base', 'main', '--summary')
  t.match(text.stdout, /^profile default, mode dev: 0 to add, 1 to change, 0 to remove\nprofile default, mode prod: 1 to add/)
  t.match(text.stdout, /\n[0-9a-f]{8} to [0-9a-f]{8}: \d new errors?, \d new warnings?/)
  const prod = await plan('--base', 'main', '--mode', 'PROD', '--summary', '--path', path.join(repository.folder, 'projects'))
  matchObject(t, prod, { code: 0, stdout: /^profile default, mode PROD: 1 to add/ }, 'the folder of a mode may lie beside what is checked')
  for (const [name, help] of [
    ['prd', 'did you mean "prod"?'],
    ['qualification', 'available modes: dev, prod'],
  ] as const) {
    const stderr = `cluster-sync: --mode: neither the base nor the head has a folder for the mode "${name}"; ${help} (InvalidConfiguration)\n`
    matchObject(t, await plan('--base', 'main', '--mode', name), { code: 2, stdout: '', stderr })
  }
  repository.git('checkout', '-q', '-b', 'same', 'main')
  repository.commit({ 'projects/line/project.json': '{}\n' })
  const same = JSON.parse((await plan('--base', 'main', '--format', 'json')).stdout) as Report
  matchObject(t, same.gateways, [{ modes: ['dev', 'prod'], changes: [{ op: 'change' }] }])
  t.equal(same.gateways.length, 1)
})

void t.test("a change that would be refused exits with 1, and new findings are annotated in the hosts' formats", async (t) => {
  if (!requires(t, 'git')) return
  const { repository, plan } = setUp(t, 'refused')
  repository.commit({ ...tree, 'resources/dev/config-mode.json': mode('cor') })
  repository.git('checkout', '-q', '-b', 'work')
  repository.commit({ 'resources/prod/config-mode.json': mode('cor'), 'projects/line/evil```.txt': '</details>' })
  repository.commit({ 'projects/line/odd.txt': 'hello\r```\r\r# Approved\r\u001b[2J\u001b]0;title\u0007\u009b2J\tend' })
  const text = await plan('--base', 'main')
  t.equal(text.code, 1)
  t.match(text.stdout, /! resources\/prod\/config-mode\.json:\d+:\d+: error: the parent "cor"/)
  t.match(text.stdout, /\+hello.*Approved.*\tend/, 'one line of a file is one line')
  t.notMatch(text.stdout, /[^\P{Cc}\n\t]/u, 'and steers no terminal')
  lacksText(t, text.stdout, 'resources/dev/config-mode.json', 'what main has already is no news')
  t.match(
    text.stdout,
    /! would be refused: validation of [0-9a-f]{8} found 2 errors \(CollectionsInvalid\)\n {2}next: Run `cluster-sync lint`/,
  )
  const github = await plan('--base', 'main', '--format', 'github')
  t.match(github.stdout, /^::error file=resources\/prod\/config-mode\.json,line=6,/m)
  t.equal(github.stdout.match(/^::error/gm)?.length, 1)
  matchObject(t, JSON.parse((await plan('--base', 'main', '--format', 'sarif')).stdout), {
    runs: [{ results: [{ ruleId: 'unknown-parent' }] }],
  })
  const { stdout: markdown } = await plan('--base', 'main', '--format', 'markdown')
  t.match(markdown, /^\| profile default, modes dev, prod \| 1 \| \d \| 0 \|$|^\| profile default, mode dev \|/m)
  containsText(t, markdown, '❌ would be refused')
  t.equal(markdown.match(/^```/gm)?.length, 2 * (markdown.match(/^<details>/gm)?.length ?? 0), 'no name of a file ends a block')
  t.notMatch(markdown, /[^\P{Cc}\n\t]|^# Approved/mu, 'nor does a line of one, where a return alone ends a line')
  repository.commit({ 'resources/dev/config-mode.json': mode('core'), 'resources/prod/config-mode.json': mode('core') })
  const repaired = await plan('--base', 'main', '--format', 'json')
  matchObject(t, { code: repaired.code, ...(JSON.parse(repaired.stdout) as Report) }, { code: 0, findings: [], gone: 1 })
})

void t.test('a first commit and a repository without collections are planned, and conflicting options are rejected', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, plan } = setUp(t, 'odd')
  repository.commit({ 'README.md': 'nothing yet' })
  repository.git('checkout', '-q', '-b', 'work')
  repository.commit(tree)
  const { code, stdout } = await plan('--base', 'main', '--format', 'json')
  t.equal(code, 0)
  matchObject(t, JSON.parse(stdout), { gateways: [{ counts: { removed: 0 } }, {}] })
  repository.commit({ 'projects/line/project.json': null })
  matchObject(t, await plan('--base', 'HEAD~1'), { code: 1, stdout: /would be refused: .*\(SourcePathMissing\)/ })
  const other = path.join(repository.folder, '../fixed')
  mkdirSync(other)
  const collections = { root: 'resources', mode: 'dev' }
  const fixed = writeGatewaySync(other, { repo: 'https://git.example/plant.git', profile: { ...profile, collections } })
  const withFixed = (mode: string) => runCli(['plan', '-f', fixed, '--path', repository.folder, '--base', 'HEAD~1', '--mode', mode])
  matchObject(t, await withFixed('prod'), {
    code: 2,
    stderr: /--mode prod would change nothing: profile "default" sets the mode "dev"; omit it, or set mode: auto there/,
  })
  matchObject(t, await withFixed('dev'), { code: 1, stdout: /^profile default, mode dev: / })
  matchObject(t, await plan('--base', 'nowhere'), { code: 2, stderr: /--base: .* has no "nowhere"; fetch it first/ })
  matchObject(t, await plan(), { code: 2, stderr: /--data <dir> of a gateway, or --base <ref>/ })
  matchObject(t, await plan('--base', 'main', '--data', '.'), { code: 2, stderr: /--base <ref>.*cannot be used with.*--data/ })
  const data = path.join(repository.folder, '../data')
  mkdirSync(data)
  matchObject(t, await plan('--data', data), { code: 2, stderr: /--path and --head need --base/ })
  const file = path.join(repository.folder, '../gatewaysync.yaml')
  matchObject(t, await runCli(['plan', '-f', file, '--data', data, '--format', 'sarif']), {
    code: 2,
    stderr: /--format sarif needs --base/,
  })
  writeFileSync(file, '')
  matchObject(t, await plan('--base', 'main'), { code: 2, stderr: /gatewaysync\.yaml/ })
})

void t.test('branches without a common commit are compared directly, and an unreadable object is an error', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, plan } = setUp(t, 'unrelated')
  repository.commit(tree)
  repository.commit({ 'projects/line/a.txt': 'a' })
  repository.git('checkout', '-q', '--orphan', 'work')
  repository.commit({ 'projects/line/a.txt': null, 'projects/line/b.txt': 'b' })
  const unrelated = await plan('--base', 'main', '--format', 'json')
  const counts = { added: 1, changed: 0, removed: 1 }
  matchObject(t, { code: unrelated.code, ...(JSON.parse(unrelated.stdout) as Report) }, { code: 0, gateways: [{ counts }] })
  const before = repository.git('rev-parse', 'main~1').toString().trim()
  rmSync(path.join(repository.folder, '.git/objects', before.slice(0, 2), before.slice(2)))
  matchObject(t, await plan('--base', 'main'), { code: 2, stdout: '', stderr: new RegExp(`${before}.*\\(\\w+\\)`) })
})
