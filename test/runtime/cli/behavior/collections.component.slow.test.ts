import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { containsText, lacksText, matchObject } from '../../../support/assertions.ts'
import { repositoryOf, withFiles } from '../../../support/collection-repository.ts'
import { config, modeJson, resource, root, validTree } from '../../../support/collection-tree.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { runCli } from '../../../support/run-cli.ts'

void t.test('an invalid argument is reported in one line, with what to do', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  const outside = temporaryFolder(t, 'outside')
  const manifest = path.join(folder, root, 'core/config-mode.json')
  for (const [args, expected] of [
    [['lint', manifest], /config-mode\.json is not a folder/],
    [['lint', folder, '--root', '/etc'], /--root: path "\/etc" must not be absolute/],
    [['lint', folder, '--root', '../..'], /--root: /],
    [['lint', outside, '--ref', 'main'], /is not in a git repository, so it has no "main"; omit --ref/],
    [['sign', folder, '--root', '/etc'], /--root: /],
    [['sign', manifest], /config-mode\.json is not part of a resource/],
    [['mode', 'diff', 'dev', 'gone', '--path', folder], /no mode "gone".*; available modes: dev, prod \(/],
    [['mode', 'new', 'qa', '--from', 'gone', '--path', folder], /available modes: dev, prod \(/],
    [['plan', '-f', path.join(outside, 'none.yaml'), '--data', outside], /none\.yaml: cannot be read: it does not exist/],
    [['plan', '-f', outside, '--data', outside], /cannot be read: it is a folder/],
    [['nonsense'], /^cluster-sync: unknown command 'nonsense'\n  next: see --help/],
  ] as const) {
    matchObject(t, await runCli([...args]), { code: 2, stdout: '', stderr: expected }, args.join(' '))
  }
})

void t.test('a ref is reported as missing only if git says so', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  for (const ref of ['nowhere', '1'.repeat(40), 'main@{1234}'])
    matchObject(t, await runCli(['lint', folder, '--ref', ref]), {
      code: 2,
      stderr: `cluster-sync: the repository at ${folder} has no "${ref}" (InvalidConfiguration)\n`,
    })
  writeFileSync(path.join(folder, '.git/config'), '[core\n')
  const { code, stderr } = await runCli(['lint', folder, '--ref', 'main'])
  t.equal(code, 2)
  t.match(stderr, /bad config line 1/)
  lacksText(t, stderr, 'has no "main"')
})

void t.test('plan: a missing data directory is an error, not an empty directory', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  const file = path.join(temporaryFolder(t, 'plan'), 'gs.yaml')
  const profile = `{collections: {root: ${root}, mode: auto}}`
  const spec = `{git: {repo: ${folder}, ref: main}, sync: {profiles: {default: ${profile}}}}`
  writeFileSync(file, `apiVersion: clustersync.io/v1alpha1\nkind: GatewaySync\nmetadata: {name: plant}\nspec: ${spec}\n`)
  const data = path.join(path.dirname(file), 'data')
  matchObject(t, await runCli(['plan', '-f', file, '--data', data]), { code: 2, stderr: /--data: .*does not exist/ })
  mkdirSync(data)
  matchObject(t, await runCli(['plan', '-f', file, '--data', data, '--mode', 'gone']), {
    code: 1,
    stderr: '',
    stdout: /^! services\/config\/resources\/gone: warning: .*\(mode-without-folder\)$/m,
  })
})

void t.test('explain: the collection that wins is shown with the ones that it overrides', async (t) => {
  if (!requires(t, 'git')) return
  const files = withFiles(
    { [`${root}/line/config-mode.json`]: modeJson('Line', 'dev') },
    resource('line/ignition/system-properties', config({ a: 1 })),
  )
  const { folder } = repositoryOf(t, files)
  matchObject(t, await runCli(['explain', folder, '--mode', 'line', 'system-properties']), {
    code: 0,
    stdout: /^ignition\/\n {2}system-properties {2}<- line, overrides dev, core\n$/,
  })
  const { stdout } = await runCli(['explain', folder, '--mode', 'line', 'database-connection/historian', '--format', 'json'])
  t.strictSame(JSON.parse(stdout), {
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
  matchObject(t, await runCli(['explain', folder, '--mode', 'gone', 'system-properties']), {
    code: 1,
    stdout: /<- core/,
    stderr: /mode-without-folder/,
  })
  matchObject(t, await runCli(['explain', folder, '--mode', 'dev', 'nothing']), { code: 2, stderr: /would have no "nothing"/ })
})

void t.test('explain: problems in the collections that the mode reads are reported as lint reports them', async (t) => {
  if (!requires(t, 'git')) return
  const manifest = (name: string) => `${root}/${name}/config-mode.json`
  const parsed = (parent: string) => JSON.parse(modeJson('x', parent)) as object
  const disabled = JSON.stringify({ ...parsed('core'), enabled: false })
  const closed = JSON.stringify({ ...parsed('core'), inheritable: false })
  const external = { ...withFiles(resource('external/ignition/schedule/day', config({}))) }
  delete external[manifest('external')]
  const cycle = { [manifest('a')]: modeJson('A', 'b'), [manifest('b')]: modeJson('B', 'a') }
  for (const [mode, files, expected] of [
    ['b', cycle, `${manifest('a')}: the parents form a cycle, so none of these collections is loaded: a -> b -> a (parent-cycle)`],
    [
      'a',
      { [manifest('a')]: modeJson('A', 'b'), [manifest('b')]: closed },
      '"b", which has inheritable: false: the inherited resources are missing (parent-not-inheritable)',
    ],
    [
      'a',
      { [manifest('a')]: modeJson('A', 'b'), [manifest('b')]: disabled },
      '"b", which has enabled: false: the resources of "b" may be missing (parent-disabled)',
    ],
    [
      'b',
      { [manifest('a')]: modeJson('A', 'b'), [manifest('b')]: disabled },
      `${manifest('b')}: has enabled: false: a gateway may ignore the collection (collection-disabled)`,
    ],
    ['a', { [manifest('a')]: '<<<<<<< ours\n' }, '(merge-conflict)'],
    ['dev', cycle, ''],
  ] as const) {
    const { code, stderr } = await runCli(['explain', repositoryOf(t, withFiles(files)).folder, '--mode', mode])
    t.equal(code, expected === '' ? 0 : 1, stderr)
    t.ok(expected === '' ? stderr === '' : stderr.includes(expected), stderr)
  }
  const { stderr } = await runCli(['explain', repositoryOf(t, external).folder, '--mode', 'dev'])
  containsText(t, stderr, `${root}/external: has files but no config-mode.json: the gateway does not start (missing-config-mode)`)
})

void t.test('mode new: creates a mode that lint accepts, and prints the remaining steps', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  const { code, stdout } = await runCli(['mode', 'new', 'qa', '--path', folder, '--title', 'Quality'])
  t.equal(code, 0)
  for (const step of ['-Dignition.config.mode=qa', 'DEPLOYMENT_MODE=qa', 'restart']) containsText(t, stdout, step)
  const mode = path.join(folder, root, 'qa')
  t.strictSame(JSON.parse(readFileSync(path.join(mode, 'config-mode.json'), 'utf8')), {
    title: 'Quality',
    description: '',
    enabled: true,
    inheritable: true,
    parent: 'core',
  })
  t.ok(existsSync(path.join(mode, 'ignition/.gitkeep')))
  matchObject(t, await runCli(['lint', folder, '--fail-on', 'warning']), { code: 0, stdout: /of 5 collections/ })
})

void t.test('mode new --from: copies the resources of another mode', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, validTree())
  matchObject(t, await runCli(['mode', 'new', 'qa', '--path', folder, '--from', 'PROD']), { code: 0 })
  matchObject(t, await runCli(['mode', 'diff', 'prod', 'qa', '--path', folder]), { code: 0, stdout: /would have the same resources/ })
  const copied = await runCli(['mode', 'new', 'q & a', '--path', '.', '--root', root, '--from', 'prod'], { cwd: folder })
  containsText(t, copied.stdout, `to compare, run: cluster-sync mode diff prod 'q & a' --root ${root}\n`)
  const again = await runCli(['mode', 'new', 'x', '--path', folder, '--from', 'q & a'])
  containsText(t, again.stdout, `to compare, run: cluster-sync mode diff 'q & a' x --path ${folder}\n`)
})

void t.test('mode new: rejects an invalid mode and creates nothing', async (t) => {
  if (!requires(t, 'git')) return
  const repository = repositoryOf(t, validTree())
  for (const [name, why] of [
    ['Dev', /already exists/],
    ['core', /reserved/],
    ['a:b', /forbidden character/],
    ['../x', /contains a \//],
    ['', /is empty/],
  ] as const) {
    matchObject(t, await runCli(['mode', 'new', name, '--path', repository.folder]), { code: 2, stderr: why })
  }
  matchObject(t, await runCli(['mode', 'new', 'qa', '--path', repository.folder, '--from', 'gone']), { code: 2, stderr: /no mode "gone"/ })
  t.equal(repository.git('status', '--porcelain').toString('utf8'), '')
})

void t.test('mode diff: names each changed key and hides secrets', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, withFiles(resource('prod/ignition/schedule/night', config({}))))
  const { stdout, code } = await runCli(['mode', 'diff', 'dev', 'prod', '--path', folder])
  t.equal(code, 0)
  containsText(t, stdout, 'systemName: "plant-dev" -> "plant-prod"')
  containsText(t, stdout, 'password.data.ciphertext: (hidden) -> (hidden)')
  containsText(t, stdout, '+ ignition/schedule/night  only prod')
  lacksText(t, stdout, 'user-source')
  matchObject(t, await runCli(['mode', 'diff', 'dev', 'gone', '--path', folder]), { code: 2 })
})

void t.test('sign: an edited resource gets its signature, and nothing else changes', async (t) => {
  if (!requires(t, 'git')) return
  const repository = repositoryOf(t, validTree())
  const folder = path.join(repository.folder, root, 'core/ignition/system-properties')
  const before = readFileSync(path.join(folder, 'resource.json'), 'utf8')
  writeFileSync(path.join(folder, 'config.json'), '{"systemName":"other"}\n')
  matchObject(t, await runCli(['lint', repository.folder]), { stdout: /stale-signature/ })
  matchObject(t, await runCli(['sign', folder, '--dry-run']), { code: 0, stdout: /1 stale, 0 already valid/ })
  t.equal(readFileSync(path.join(folder, 'resource.json'), 'utf8'), before)
  matchObject(t, await runCli(['sign', folder]), { code: 0, stdout: /1 signed, 0 already valid/ })
  const hex = /[0-9a-f]{64}/g
  t.equal(readFileSync(path.join(folder, 'resource.json'), 'utf8').replace(hex, ''), before.replace(hex, ''))
  matchObject(t, await runCli(['lint', repository.folder, '--fail-on', 'warning']), { code: 0 })
  matchObject(t, await runCli(['sign', repository.folder]), { code: 0, stdout: /0 signed, 15 already valid/ })
})

void t.test('sign: a resource that cannot be signed is reported with the reason', async (t) => {
  if (!requires(t, 'git')) return
  const files = validTree()
  delete files[`${root}/core/ignition/security-levels/config.json`]
  const { folder } = repositoryOf(t, files)
  matchObject(t, await runCli(['sign', folder]), {
    code: 1,
    stdout: /0 signed, 14 already valid, 1 cannot be signed/,
    stderr: /security-levels\/resource.json: cannot be signed: it lists "config.json", which does not exist/,
  })
  symlinkSync('resource.json', path.join(folder, root, 'core/ignition/security-levels/config.json'))
  matchObject(t, await runCli(['sign', folder]), { stderr: /it lists "config.json", which is a symbolic link: links are not delivered\n/ })
  mkdirSync(path.join(folder, 'empty'))
  matchObject(t, await runCli(['sign', path.join(folder, 'empty')]), { code: 2, stderr: /contains no resource.*--root/ })
  writeFileSync(path.join(folder, 'empty/project.json'), '{}')
  matchObject(t, await runCli(['sign', path.join(folder, 'empty')]), { code: 2, stderr: /not those of projects/ })
})

void t.test('sign: a resource without a signature stays unsigned', async (t) => {
  if (!requires(t, 'git')) return
  const manifest = '{"scope":"A","version":1,"files":[],"attributes":{}}'
  const { folder } = repositoryOf(t, { [`${root}/core/ignition/schedule/day/resource.json`]: manifest })
  matchObject(t, await runCli(['sign', folder]), { code: 0, stdout: '0 signed, 0 already valid\n' })
  t.equal(readFileSync(path.join(folder, root, 'core/ignition/schedule/day/resource.json'), 'utf8'), manifest)
})
