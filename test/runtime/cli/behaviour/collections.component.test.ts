import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { ruleIds } from '../../../../runtime/collections/rules/rules.ts'
import { config, type Files, modeJson, resource, root, validTree } from '../../../support/collection-tree.ts'
import { makeRepository, type Repository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { runCli } from '../../../support/run-cli.ts'

function repositoryOf(t: Test, files: Files): Repository {
  const repository = makeRepository(path.join(temporaryFolder(t, 'cli'), 'repository'))
  repository.commit(files)
  return repository
}

const withFiles = (...added: Files[]): Files => Object.assign(validTree(), ...added) as Files
const broken = withFiles(resource('dev/ignition/cobranding', config({})))
const smelling = withFiles(resource('core/ignition/email-profile/alarms', config({ hostname: 'mail.example.com' })))

void t.test('lint: 0 for a clean tree, 1 for an error, 2 for what cannot be read', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  t.match(await runCli(['lint', folder]), { code: 0, stdout: /^0 errors, 0 warnings in 15 resources of 4 collections/, stderr: '' })
  const link = path.join(temporaryFolder(t, 'link'), 'link')
  symlinkSync(folder, link)
  t.match(await runCli(['lint', link]), { code: 0, stdout: /in 15 resources of 4 collections/ }, 'a link to it is named')
  t.match(await runCli(['lint', repositoryOf(t, broken).folder]), { code: 1, stdout: /singleton-only-in-mode/ })
  for (const args of [
    ['lint', path.join(folder, 'nowhere')],
    ['lint', path.join(folder, 'services/projects')],
    ['lint', folder, '--ref', 'nope'],
    ['lint', folder, '--root', 'nope'],
    ['lint', folder, '--format', 'xml'],
    ['lint', 'https://git.example.com/a.git'],
    ['lint', folder, 'more'],
  ]) {
    const { code, stdout, stderr } = await runCli(args)
    t.equal(code, 2, args.join(' '))
    t.equal(stdout, '')
    t.equal(stderr.trim().split('\n').length <= 2 && stderr !== '', true, stderr)
  }
})

void t.test('what is named wrongly is said in one line, with what to do', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  const outside = temporaryFolder(t, 'outside')
  const manifest = path.join(folder, root, 'core/config-mode.json')
  for (const [args, expected] of [
    [['lint', manifest], /config-mode\.json is no folder/],
    [['lint', folder, '--root', '/etc'], /--root: path "\/etc" must not be absolute/],
    [['lint', folder, '--root', '../..'], /--root: /],
    [['lint', outside, '--ref', 'main'], /lies in no git repository, so it has no "main"; leave --ref out/],
    [['sign', folder, '--root', '/etc'], /--root: /],
    [['sign', manifest], /config-mode\.json belongs to no resource/],
    [['mode', 'diff', 'dev', 'gone', '--path', folder], /no mode "gone".*; modes are: dev, prod \(/],
    [['mode', 'new', 'qa', '--from', 'gone', '--path', folder], /modes are: dev, prod \(/],
    [['plan', '-f', path.join(outside, 'none.yaml'), '--data', outside], /none\.yaml: cannot be read: it does not exist/],
    [['plan', '-f', outside, '--data', outside], /cannot be read: it is a folder/],
    [['nonsense'], /unknown command 'nonsense'\n\(--help shows/],
  ] as const) {
    t.match(await runCli([...args]), { code: 2, stdout: '', stderr: expected }, args.join(' '))
  }
})

void t.test('plan: a data directory that is not there is no empty one', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  const file = path.join(temporaryFolder(t, 'plan'), 'gs.yaml')
  const profile = `{collections: {root: ${root}, mode: auto}}`
  const spec = `{git: {repo: ${folder}, ref: main}, sync: {profiles: {default: ${profile}}}}`
  writeFileSync(file, `apiVersion: clustersync.io/v1alpha1\nkind: GatewaySync\nmetadata: {name: plant}\nspec: ${spec}\n`)
  const data = path.join(path.dirname(file), 'data')
  t.match(await runCli(['plan', '-f', file, '--data', data]), { code: 2, stderr: /--data: .*is no folder: it does not exist/ })
  mkdirSync(data)
  t.match(await runCli(['plan', '-f', file, '--data', data, '--mode', 'gone']), {
    code: 1,
    stderr: '',
    stdout: /! gone: .*\(mode-without-folder\)/,
  })
})

void t.test('lint: --fail-on warning fails on warnings', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, smelling)
  t.match(await runCli(['lint', folder]), { code: 0 })
  t.match(await runCli(['lint', folder, '--fail-on', 'warning']), { code: 1 })
})

void t.test('lint: a commit, a branch and a repository are checked as they are, not as the directory stands', async (t) => {
  if (!requires(t, 'git')) return
  const repository = repositoryOf(t, broken)
  const first = repository.git('rev-parse', 'HEAD').toString('utf8').trim()
  repository.commit({ [`${root}/dev/ignition/cobranding/config.json`]: null, [`${root}/dev/ignition/cobranding/resource.json`]: null })
  t.match(await runCli(['lint', repository.folder]), { code: 0 })
  t.match(await runCli(['lint', repository.folder, '--ref', first]), { code: 1 })
  t.match(await runCli(['lint', path.join(repository.folder, 'services'), '--ref', 'HEAD~1']), { code: 1 })
  t.match(await runCli(['lint', `file://${repository.folder}`, '--ref', 'main']), { code: 0 })
  t.match(await runCli(['lint', `file://${repository.folder}`, '--ref', 'ma in']), { code: 2, stderr: /"ma in" is not a valid ref: / })
  const [linked, bare] = [path.join(temporaryFolder(t, 'linked'), 'tree'), path.join(temporaryFolder(t, 'bare'), 'bare.git')]
  repository.git('worktree', 'add', '--detach', linked)
  repository.git('clone', '--bare', '--quiet', repository.folder, bare)
  t.match(await runCli(['lint', path.join(linked, 'services'), '--ref', first]), { code: 1 })
  t.match(await runCli(['lint', bare, '--ref', 'main']), { code: 0 })
})

void t.test('lint: the files of a submodule do not count, for no commit of the directory holds them', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  const submodule = path.join(folder, root, 'submodule')
  mkdirSync(submodule)
  writeFileSync(path.join(submodule, 'a.json'), '{}')
  t.match(await runCli(['lint', folder]), { code: 1, stdout: /missing-config-mode/ }, 'as a plain folder')
  writeFileSync(path.join(submodule, '.git'), 'gitdir: ../../../../.git/modules/submodule\n')
  t.match(await runCli(['lint', folder]), { code: 0 })
})

void t.test('lint: JSON has the shape that is promised', async (t) => {
  if (!requires(t, 'git')) return
  const { stdout, code } = await runCli(['lint', repositoryOf(t, broken).folder, '--format', 'json'])
  t.equal(code, 1)
  const help = 'Add the singleton to core (a copy of the one in the mode will do).'
  const message = 'the singleton ignition/cobranding exists only in the mode "dev": core must hold it too'
  t.same(JSON.parse(stdout), {
    roots: [root],
    findings: [{ rule: 'singleton-only-in-mode', severity: 'error', path: `${root}/dev/ignition/cobranding`, message, help }],
    summary: { errors: 1, warnings: 0, resources: 16, collections: 4, projects: 0 },
  })
})

void t.test('lint: SARIF names each rule and each place', async (t) => {
  if (!requires(t, 'git')) return
  const { stdout } = await runCli(['lint', repositoryOf(t, broken).folder, '--format', 'sarif'])
  const { version, runs } = JSON.parse(stdout) as {
    version: string
    runs: { tool: { driver: { rules: { id: string }[] } }; results: object[] }[]
  }
  t.equal(version, '2.1.0')
  t.same(
    runs[0]?.tool.driver.rules.map(({ id }) => id),
    ruleIds,
  )
  t.match(runs[0]?.results, [
    {
      ruleId: 'singleton-only-in-mode',
      level: 'error',
      locations: [{ physicalLocation: { artifactLocation: { uri: `${root}/dev/ignition/cobranding` } } }],
    },
  ])
})

void t.test('lint: annotations are escaped', async (t) => {
  if (!requires(t, 'git')) return
  const { stdout } = await runCli(['lint', repositoryOf(t, withFiles({ [`${root}/100%,a b.txt`]: 'x' })).folder, '--format', 'github'])
  t.match(stdout, `::warning file=${root}/100%25%2Ca b.txt,title=orphan-file::stands directly in the collections root.`)
})

void t.test('lint: .clustersync.yaml at the top of the repository sets severities; an unknown rule in it is an error', async (t) => {
  if (!requires(t, 'git')) return
  const settings = `rules:\n  singleton-only-in-mode:\n    - {paths: ["**/dev/ignition/cobranding"], severity: warning}\n`
  const repository = repositoryOf(t, { ...broken, '.clustersync.yaml': settings })
  t.match(await runCli(['lint', path.join(repository.folder, root)]), { code: 0, stdout: /1 warning / })
  t.match(await runCli(['lint', repository.folder, '--ref', 'main']), { code: 0, stdout: /1 warning / })
  writeFileSync(path.join(repository.folder, '.clustersync.yaml'), 'rules: {nope: off}')
  t.match(await runCli(['lint', repository.folder]), { code: 2, stderr: /unknown rule "nope"/ })
})

void t.test('lint: every root is checked', async (t) => {
  if (!requires(t, 'git')) return
  const second = Object.fromEntries(Object.entries(broken).map(([name, content]) => [`other/${name}`, content]))
  const { stdout } = await runCli(['lint', repositoryOf(t, { ...validTree(), ...second }).folder, '--format', 'json'])
  t.match(JSON.parse(stdout), { roots: [`other/${root}`, root], summary: { errors: 1, resources: 31, collections: 8 } })
})

void t.test('explain: which collection wins, and what it overrides', async (t) => {
  if (!requires(t, 'git')) return
  const files = withFiles(
    { [`${root}/line/config-mode.json`]: modeJson('Line', 'dev') },
    resource('line/ignition/system-properties', config({ a: 1 })),
  )
  const { folder } = repositoryOf(t, files)
  t.match(await runCli(['explain', folder, '--mode', 'line', 'system-properties']), {
    code: 0,
    stdout: /^ignition\/\n {2}system-properties {2}<- line, overrides dev, core\n$/,
  })
  const { stdout } = await runCli(['explain', folder, '--mode', 'line', 'database-connection/historian', '--format', 'json'])
  t.same(JSON.parse(stdout), {
    mode: 'line',
    order: ['system', 'external', 'core', 'dev', 'line'],
    resources: [
      {
        resource: 'ignition/database-connection/historian',
        collection: 'dev',
        path: `${root}/dev/ignition/database-connection/historian`,
        overrides: [],
      },
    ],
  })
  t.match(await runCli(['explain', folder, '--mode', 'gone', 'system-properties']), {
    code: 1,
    stdout: /<- core/,
    stderr: /mode-without-folder/,
  })
  t.match(await runCli(['explain', folder, '--mode', 'dev', 'nothing']), { code: 2, stderr: /would hold no "nothing"/ })
})

void t.test('mode new: makes a mode that lint accepts, and says what remains', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  const { code, stdout } = await runCli(['mode', 'new', 'qa', '--path', folder, '--title', 'Quality'])
  t.equal(code, 0)
  for (const step of ['-Dignition.config.mode=qa', 'DEPLOYMENT_MODE=qa', 'restart']) t.match(stdout, step)
  const mode = path.join(folder, root, 'qa')
  t.same(JSON.parse(readFileSync(path.join(mode, 'config-mode.json'), 'utf8')), {
    title: 'Quality',
    description: '',
    enabled: true,
    inheritable: true,
    parent: 'core',
  })
  t.ok(existsSync(path.join(mode, 'ignition/.gitkeep')))
  t.match(await runCli(['lint', folder, '--fail-on', 'warning']), { code: 0, stdout: /of 5 collections/ })
})

void t.test('mode new --from: copies the resources of another mode', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  t.match(await runCli(['mode', 'new', 'qa', '--path', folder, '--from', 'PROD']), { code: 0 })
  t.match(await runCli(['mode', 'diff', 'prod', 'qa', '--path', folder]), { code: 0, stdout: /would hold the same/ })
})

void t.test('mode new: refuses what cannot be a mode, and leaves nothing behind', async (t) => {
  if (!requires(t, 'git')) return
  const repository = repositoryOf(t, validTree())
  for (const [name, why] of [
    ['Dev', /exists already/],
    ['core', /reserved/],
    ['a:b', /forbidden character/],
    ['../x', /holds a \//],
    ['', /is empty/],
  ] as const) {
    t.match(await runCli(['mode', 'new', name, '--path', repository.folder]), { code: 2, stderr: why })
  }
  t.match(await runCli(['mode', 'new', 'qa', '--path', repository.folder, '--from', 'gone']), { code: 2, stderr: /no mode "gone"/ })
  t.equal(repository.git('status', '--porcelain').toString('utf8'), '')
})

void t.test('mode diff: names what differs down to the key, and hides secrets', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, withFiles(resource('prod/ignition/schedule/night', config({}))))
  const { stdout, code } = await runCli(['mode', 'diff', 'dev', 'prod', '--path', folder])
  t.equal(code, 0)
  t.match(stdout, 'systemName: "plant-dev" -> "plant-prod"')
  t.match(stdout, 'password: (hidden) -> (hidden)')
  t.match(stdout, '+ ignition/schedule/night  only prod (prod)')
  t.notMatch(stdout, 'user-source')
  t.match(await runCli(['mode', 'diff', 'dev', 'gone', '--path', folder]), { code: 2 })
})

void t.test('sign: a resource edited by hand gets its signature, and nothing else changes', async (t) => {
  if (!requires(t, 'git')) return
  const repository = repositoryOf(t, validTree())
  const folder = path.join(repository.folder, root, 'core/ignition/system-properties')
  const before = readFileSync(path.join(folder, 'resource.json'), 'utf8')
  writeFileSync(path.join(folder, 'config.json'), '{"systemName":"other"}\n')
  t.match(await runCli(['lint', repository.folder]), { stdout: /stale-signature/ })
  t.match(await runCli(['sign', folder, '--dry-run']), { code: 0, stdout: /1 stale, 0 right already/ })
  t.equal(readFileSync(path.join(folder, 'resource.json'), 'utf8'), before)
  t.match(await runCli(['sign', folder]), { code: 0, stdout: /1 signed, 0 right already/ })
  const hex = /[0-9a-f]{64}/g
  t.equal(readFileSync(path.join(folder, 'resource.json'), 'utf8').replace(hex, ''), before.replace(hex, ''))
  t.match(await runCli(['lint', repository.folder, '--fail-on', 'warning']), { code: 0 })
  t.match(await runCli(['sign', repository.folder]), { code: 0, stdout: /0 signed, 15 right already/ })
})

void t.test('sign: what cannot be signed is said', async (t) => {
  if (!requires(t, 'git')) return
  const files = validTree()
  delete files[`${root}/core/ignition/security-levels/config.json`]
  const { folder } = repositoryOf(t, files)
  t.match(await runCli(['sign', folder]), { code: 1, stderr: /security-levels\/resource.json: .*listed file is missing/ })
  mkdirSync(path.join(folder, 'empty'))
  t.match(await runCli(['sign', path.join(folder, 'empty')]), { code: 2, stderr: /holds no resource/ })
})

void t.test('sign: a resource without a signature stays without one', async (t) => {
  if (!requires(t, 'git')) return
  const manifest = '{"scope":"A","version":1,"files":[],"attributes":{}}'
  const { folder } = repositoryOf(t, { [`${root}/core/ignition/schedule/day/resource.json`]: manifest })
  t.match(await runCli(['sign', folder]), { code: 0, stdout: '0 signed, 0 right already' })
  t.equal(readFileSync(path.join(folder, root, 'core/ignition/schedule/day/resource.json'), 'utf8'), manifest)
})
