import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { ruleIds } from '../../../../runtime/validation/rules/rules.ts'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { broken, repositoryOf, withFiles } from '../../../support/collection-repository.ts'
import { config, resource, root, validTree } from '../../../support/collection-tree.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { runCli } from '../../../support/run-cli.ts'

const smelling = withFiles(resource('core/ignition/email-profile/alarms', config({ hostname: 'mail.example.com' })))

void t.test('lint: exits with 0 for a clean tree, 1 for an error, 2 for unreadable input', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  matchObject(t, await runCli(['lint', folder]), { code: 0, stdout: /^0 errors, 0 warnings in 15 resources of 4 collections/, stderr: '' })
  const link = path.join(temporaryFolder(t, 'link'), 'link')
  symlinkSync(folder, link)
  matchObject(t, await runCli(['lint', link]), { code: 0, stdout: /in 15 resources of 4 collections/ }, 'a link to it is named')
  matchObject(t, await runCli(['lint', repositoryOf(t, broken).folder]), { code: 1, stdout: /singleton-only-in-mode/ })
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

void t.test('lint: --fail-on warning fails on warnings', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, smelling)
  matchObject(t, await runCli(['lint', folder]), { code: 0 })
  matchObject(t, await runCli(['lint', folder, '--fail-on', 'warning']), { code: 1 })
})

void t.test('lint: a commit, a branch and a repository are checked as committed, not as in the working tree', async (t) => {
  if (!requires(t, 'git')) return
  const repository = repositoryOf(t, broken)
  const first = repository.git('rev-parse', 'HEAD').toString('utf8').trim()
  repository.commit({ [`${root}/dev/ignition/cobranding/config.json`]: null, [`${root}/dev/ignition/cobranding/resource.json`]: null })
  matchObject(t, await runCli(['lint', repository.folder]), { code: 0 })
  matchObject(t, await runCli(['lint', repository.folder, '--ref', first]), { code: 1 })
  matchObject(t, await runCli(['lint', path.join(repository.folder, 'services'), '--ref', 'HEAD~1']), { code: 1 })
  matchObject(t, await runCli(['lint', `file://${repository.folder}`, '--ref', 'main']), { code: 0 })
  matchObject(t, await runCli(['lint', `file://${repository.folder}`, '--ref', 'ma in']), {
    code: 2,
    stderr: /"ma in" is not a valid ref: /,
  })
  const [linked, bare] = [path.join(temporaryFolder(t, 'linked'), 'tree'), path.join(temporaryFolder(t, 'bare'), 'bare.git')]
  repository.git('worktree', 'add', '--detach', linked)
  repository.git('clone', '--bare', '--quiet', repository.folder, bare)
  matchObject(t, await runCli(['lint', path.join(linked, 'services'), '--ref', first]), { code: 1 })
  matchObject(t, await runCli(['lint', bare, '--ref', 'main']), { code: 0 })
})

void t.test('lint: the files of a submodule are ignored, because no commit of the repository contains them', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  const submodule = path.join(folder, root, 'submodule')
  mkdirSync(submodule)
  writeFileSync(path.join(submodule, 'a.json'), '{}')
  matchObject(t, await runCli(['lint', folder]), { code: 1, stdout: /missing-config-mode/ }, 'as a plain folder')
  writeFileSync(path.join(submodule, '.git'), 'gitdir: ../../../../.git/modules/submodule\n')
  matchObject(t, await runCli(['lint', folder]), { code: 0 })
})

void t.test('lint: JSON output has the documented shape', async (t) => {
  if (!requires(t, 'git')) return
  const { stdout, code } = await runCli(['lint', repositoryOf(t, broken).folder, '--format', 'json'])
  t.equal(code, 1)
  const help = 'Add the singleton to core; a copy of the one in the mode is enough.'
  const message = 'the singleton ignition/cobranding exists in the mode "dev" but not in core: the gateway does not start'
  t.strictSame(JSON.parse(stdout), {
    roots: [root],
    findings: [{ rule: 'singleton-only-in-mode', severity: 'error', path: `${root}/dev/ignition/cobranding`, message, help }],
    summary: { errors: 1, warnings: 0, resources: 16, collections: 4, projects: 0 },
  })
})

void t.test('lint: SARIF output names each rule and location', async (t) => {
  if (!requires(t, 'git')) return
  const { stdout } = await runCli(['lint', repositoryOf(t, broken).folder, '--format', 'sarif'])
  const { version, runs } = JSON.parse(stdout) as {
    version: string
    runs: { tool: { driver: { rules: { id: string }[] } }; results: object[] }[]
  }
  t.equal(version, '2.1.0')
  t.strictSame(
    runs[0]?.tool.driver.rules.map(({ id }) => id),
    ruleIds,
  )
  matchObject(t, runs[0]?.results, [
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
  containsText(
    t,
    stdout,
    `::warning file=${root}/100%25%2Ca b.txt,title=orphan-file::is directly in the collections root: the gateway ignores it.`,
  )
})

void t.test('lint: .clustersync.yaml at the repository root sets severities; an unknown rule in it is an error', async (t) => {
  if (!requires(t, 'git')) return
  const settings = `rules:\n  singleton-only-in-mode:\n    - {paths: ["**/dev/ignition/cobranding"], severity: warning}\n`
  const repository = repositoryOf(t, { ...broken, '.clustersync.yaml': settings })
  matchObject(t, await runCli(['lint', path.join(repository.folder, root)]), { code: 0, stdout: /1 warning / })
  matchObject(t, await runCli(['lint', repository.folder, '--ref', 'main']), { code: 0, stdout: /1 warning / })
  writeFileSync(path.join(repository.folder, '.clustersync.yaml'), 'rules: {nope: off}')
  matchObject(t, await runCli(['lint', repository.folder]), { code: 2, stderr: /unknown rule "nope"/ })
})

void t.test('lint: every root is checked', async (t) => {
  if (!requires(t, 'git')) return
  const second = Object.fromEntries(Object.entries(broken).map(([name, content]) => [`other/${name}`, content]))
  const { stdout } = await runCli(['lint', repositoryOf(t, { ...validTree(), ...second }).folder, '--format', 'json'])
  matchObject(t, JSON.parse(stdout), { roots: [`other/${root}`, root], summary: { errors: 1, resources: 31, collections: 8 } })
})
