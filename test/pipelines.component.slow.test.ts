/**
 * The action, the GitLab job and the hooks of docs/how-to/pipelines.md, each run like on its host, with the same shell, variables and
 * files, and with the command line of a release.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { containsText, matchObject } from './support/assertions.ts'
import { textsIn } from './support/page.ts'
import { makeRepository, type Repository, temporaryFolder } from './support/repository.ts'
import { requires } from './support/requires.ts'

const root = path.resolve(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8')

type Ended = { code: number; output: string }

/** Without the test runner's loader, which every child process of a test inherits, and with only the given variables. */
function run(cwd: string, words: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const given = { PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`, HOME: process.env['HOME'] ?? '/', ...env }
    const [command = '', ...args] = words
    const child = spawn(command, args, { cwd, env: given, stdio: ['ignore', 'pipe', 'pipe'], timeout: 200_000 })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

const collection = { title: 'core', description: '', enabled: true, inheritable: true, parent: 'external' }
const good = { 'services/config/resources/core/config-mode.json': `${JSON.stringify(collection, undefined, 2)}\n` }
const at = 'services/config/resources/dev/config-mode.json'
const bad = { [at]: '{\n  "title": "dev",\n}\n' }

const author = {
  GIT_AUTHOR_NAME: 'Jane',
  GIT_AUTHOR_EMAIL: 'jane@example.com',
  GIT_COMMITTER_NAME: 'Jane',
  GIT_COMMITTER_EMAIL: 'jane@example.com',
}

/** A repository of a plant with an error in its last commit, and one without. */
function makePlant(folder: string): { plant: Repository; clean: Repository } {
  const [plant, clean] = [makeRepository(path.join(folder, 'plant')), makeRepository(path.join(folder, 'clean'))]
  for (const repository of [plant, clean]) repository.commit(good)
  plant.commit(bad)
  return { plant, clean }
}

async function pack(t: Test, folder: string): Promise<string> {
  const { code, output } = await run(root, [process.execPath, 'scripts/package/cli/main.ts', folder])
  t.equal(code, 0, code === 0 ? 'packed' : output)
  return output.trim().split('\n').at(-1) ?? ''
}

/** Runs a composite action like GitHub: each step in its shell, inputs and contexts filled in, outputs in a file. */
async function runAction(
  folder: string,
  workspace: string,
  inputs: Record<string, string>,
  base?: string,
): Promise<Ended & { outputs: string; summary: string }> {
  type Action = {
    inputs: Record<string, { default: string }>
    runs: { steps: { shell: string; run: string; if?: string; env: Record<string, string> }[] }
  }
  const action = parse(read('action.yml')) as Action
  const contexts: Record<string, string> = {
    'github.event.pull_request.base.sha': base ?? '',
    'github.action_repository': 'plants/cluster-sync-operator',
    'github.server_url': 'https://github.example',
    'github.action_path': root,
  }
  const filled = (value: string): string => value.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, key: string) => contexts[key] ?? '')
  for (const [name, input] of Object.entries(action.inputs)) contexts[`inputs.${name}`] = inputs[name] ?? filled(input.default)
  const outputs = path.join(folder, `outputs-${path.basename(workspace)}`)
  const summary = path.join(folder, `summary-${path.basename(workspace)}`)
  for (const file of [outputs, summary]) writeFileSync(file, '')
  const written = () => ({ outputs: readFileSync(outputs, 'utf8'), summary: readFileSync(summary, 'utf8') })
  const runner = {
    GITHUB_STEP_SUMMARY: summary,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: workspace,
    RUNNER_TEMP: folder,
    GITHUB_OUTPUT: outputs,
  }
  let [output, failed] = ['', 0]
  for (const [index, step] of action.runs.steps.entries()) {
    // A step without a condition runs only after successful steps; the one with a condition checks its inputs.
    const isDesired = step.if === undefined ? failed === 0 : contexts['inputs.file'] !== '' && contexts['inputs.base'] !== ''
    if (!isDesired) continue
    const script = path.join(folder, `step-${index}.sh`)
    writeFileSync(script, step.run)
    const env = Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, filled(value)]))
    const words = ['bash', '--noprofile', '--norc', '-eo', 'pipefail', script]
    const ended = await run(workspace, words, { ...runner, ...env })
    output += ended.output
    failed = failed === 0 ? ended.code : failed
  }
  return { code: failed, output, ...written() }
}

/** Runs a job like a GitLab runner: one script of all its lines, in a shell that stops at the first failure. */
async function runJob(workspace: string, variables: Record<string, string>): Promise<Ended> {
  type Job = { variables?: Record<string, string>; before_script: string[]; script: string[] }
  const { 'cluster-sync-lint': job } = parse(read('integrations/gitlab-ci.yml')) as { 'cluster-sync-lint': Job }
  const lines = ['set -eo pipefail', ...job.before_script, ...job.script]
  const host = { CI: 'true', GITLAB_CI: 'true', CI_PROJECT_DIR: workspace }
  // A job's own variables override those of the pipeline.
  return await run(workspace, ['bash', '-c', lines.join('\n')], { ...host, ...variables, ...job.variables })
}

void t.test('a checked folder that resembles a bare repository runs no program in the action', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'attacked')
  const [workspace, ran] = [makeRepository(path.join(folder, 'workspace')), path.join(folder, 'ran')]
  const config = `[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n\tsshCommand = touch ${ran};\n[remote "origin"]\n\turl = ssh://git.example/plant.git\n`
  workspace.commit({
    'gateways/HEAD': 'ref: refs/heads/main\n',
    'gateways/config': config,
    'gateways/objects/.keep': '',
    'gateways/refs/heads/.keep': '',
  })
  const { runs } = parse(read('action.yml')) as { runs: { steps: { name: string; run: string }[] } }
  const script = runs.steps.find(({ name }) => name === 'plan')?.run ?? ''
  const env = { CHECKED: 'gateways', FILE: 'gatewaysync.yaml', BASE: '1'.repeat(40), RUNNER_TEMP: folder, GITHUB_STEP_SUMMARY: '/dev/null' }
  const attacked = await run(workspace.folder, ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', script], env)
  matchObject(t, attacked, { code: 128, output: /cannot use bare repository/ })
  t.notOk(existsSync(ran), 'the program of the change was not run')
})

void t.test('a change is checked in the commit hook, the push pipeline and the merge request', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'pipelines')
  const tarball = await pack(t, folder)
  const { plant, clean } = makePlant(folder)

  await t.test('the action annotates findings and fails, and passes without findings', async (t) => {
    const inputs = { package: tarball, path: 'services' }
    const failed = await runAction(folder, plant.folder, inputs)
    t.equal(failed.code, 1, failed.output)
    t.match(failed.output, new RegExp(`^::error file=${at},line=3,`, 'm'))
    const sarif = /^sarif=(.*)$/m.exec(failed.outputs)?.[1] ?? ''
    const { runs } = JSON.parse(readFileSync(sarif, 'utf8')) as { runs: { results: { ruleId: string }[] }[] }
    matchObject(
      t,
      runs[0]?.results.map(({ ruleId }) => ruleId),
      ['invalid-config-mode'],
    )
    matchObject(t, await runAction(folder, clean.folder, inputs), { code: 0 })
    matchObject(t, await runAction(folder, clean.folder, { ...inputs, path: 'nowhere' }), { code: 2, output: /nowhere/ })
  })

  await t.test('the GitLab job fails with a code quality report', async (t) => {
    const [page = {}] = textsIn('docs/how-to/pipelines.md', 'yaml').flatMap((text) => {
      const { include, variables } = parse(text) as { include?: unknown; variables?: Record<string, string> }
      return include === undefined || variables === undefined ? [] : [variables]
    })
    t.strictSame(Object.keys(page), ['CLUSTER_SYNC_PACKAGE', 'CLUSTER_SYNC_PATH'], 'as the page sets them')
    const others = path.join(folder, 'others')
    mkdirSync(others)
    writeFileSync(path.join(others, 'cluster-sync'), '#!/bin/sh\nexit 9\n', { mode: 0o755 })
    // The configured package has priority over the one in the job's image.
    const PATH = `${others}:${path.dirname(process.execPath)}:${process.env['PATH']}`
    const variables = { ...page, CLUSTER_SYNC_PACKAGE: tarball, TMPDIR: folder, PATH }
    const failed = await runJob(plant.folder, variables)
    t.equal(failed.code, 1, failed.output)
    const report = JSON.parse(readFileSync(path.join(plant.folder, 'gl-code-quality-report.json'), 'utf8')) as unknown[]
    matchObject(t, report, [{ check_name: 'invalid-config-mode', location: { path: at } }])
    matchObject(t, await runJob(clean.folder, variables), { code: 0 })
    matchObject(
      t,
      await runJob(clean.folder, { CLUSTER_SYNC_PACKAGE: tarball, TMPDIR: folder }),
      { code: 0 },
      'the whole repository by default',
    )
    matchObject(t, await runJob(clean.folder, {}), {
      code: 2,
      output: /set CLUSTER_SYNC_IMAGE to the image of the command line, or CLUSTER_SYNC_PACKAGE/,
    })
  })

  await t.test('the action and the job show the plan of a change from a shallow clone', async (t) => {
    const [origin, workspace] = [makeRepository(path.join(folder, 'origin')), path.join(folder, 'workspace')]
    const file = 'gatewaysync.yaml'
    const spec =
      '{git: {repo: "https://git.example/plant.git", ref: main}, sync: {profiles: {default: {collections: {root: services/config/resources}}}}}'
    const base = origin.commit({
      ...good,
      [file]: `apiVersion: clustersync.io/v1alpha1\nkind: GatewaySync\nmetadata: {name: plant}\nspec: ${spec}\n`,
    })
    origin.commit({ 'services/config/resources/core/note.txt': 'new' })
    const clone = ['git', 'clone', '--quiet', '--depth=1', `file://${origin.folder}`, workspace]
    matchObject(t, await run(folder, clone), { code: 0 })
    const inputs = { package: tarball, file, 'fail-on': 'error' }
    const shown = await runAction(folder, workspace, inputs, base)
    t.equal(shown.code, 0, shown.output)
    containsText(t, shown.summary, '| profile default | 1 | 0 | 0 |')
    t.match((await runAction(folder, workspace, inputs)).summary, /^$/, 'no pull request, no plan')
    const variables = {
      CLUSTER_SYNC_PACKAGE: tarball,
      TMPDIR: folder,
      CLUSTER_SYNC_FILE: file,
      CI_MERGE_REQUEST_DIFF_BASE_SHA: base,
    }
    const job = await runJob(workspace, variables)
    matchObject(t, job, { code: 0, output: /profile default: 1 to add, 0 to change/ })
    const [byHand = ''] = textsIn('docs/how-to/pipelines.md', 'sh').filter((text) => text.includes('--base main'))
    const PATH = `${path.join(folder, 'cluster-sync/bin')}:${path.dirname(process.execPath)}:${process.env['PATH']}`
    matchObject(t, await run(origin.folder, ['sh', '-ec', byHand], { PATH }), { code: 0, output: /0 new errors, 0 new warnings/ })
    origin.commit(bad)
    for (const words of ['fetch --quiet --depth=1 origin main', 'checkout --quiet --force FETCH_HEAD']) {
      matchObject(t, await run(workspace, ['git', ...words.split(' ')]), { code: 0 }, words)
    }
    const refused = await runAction(folder, workspace, inputs, base)
    matchObject(t, refused, { code: 1, summary: /❌ would be refused/, output: /^::error file=.*,line=3,/m })
    matchObject(t, await runJob(workspace, variables), { code: 1, output: /would be refused/ })
  })

  await t.test('the hooks keep git from creating the commit', async (t) => {
    const [hook] = parse(read('.pre-commit-hooks.yaml')) as Record<string, unknown>[]
    matchObject(t, hook, { entry: 'cluster-sync lint', pass_filenames: false, always_run: true })
    const programs = path.join(folder, 'programs')
    mkdirSync(programs)
    symlinkSync(path.join(folder, 'cluster-sync/bin/cluster-sync'), path.join(programs, 'cluster-sync'))
    const env = { ...author, PATH: `${programs}:${path.dirname(process.execPath)}:${process.env['PATH']}` }

    const install = textsIn('docs/how-to/pipelines.md', 'sh').find((text) => text.includes('hooks/pre-commit')) ?? ''
    const linked = path.join(folder, 'linked')
    matchObject(t, await run(clean.folder, ['git', 'worktree', 'add', '--quiet', '-b', 'linked', linked], env), { code: 0 })
    const hookFile = path.join(clean.folder, '.git/hooks/pre-commit')
    mkdirSync(path.dirname(hookFile), { recursive: true })
    writeFileSync(hookFile, 'mine')
    matchObject(t, await run(clean.folder, ['sh', '-ec', install], env), { code: 0 })
    t.equal(readFileSync(hookFile, 'utf8'), 'mine', 'a hook that is there stays')
    rmSync(hookFile)
    matchObject(t, await run(linked, ['sh', '-ec', install], env), { code: 0 }, 'in a linked working tree, for all of them')
    mkdirSync(path.dirname(path.join(clean.folder, at)), { recursive: true })
    writeFileSync(path.join(clean.folder, at), bad[at] ?? '')
    const commit = ['git', 'commit', '--quiet', '--message', 'Add dev']
    matchObject(t, await run(clean.folder, ['git', 'add', '.'], env), { code: 0 })
    matchObject(t, await run(clean.folder, commit, env), { code: 1, output: /config-mode\.json:3:/ })
    writeFileSync(path.join(clean.folder, at), good['services/config/resources/core/config-mode.json'])
    matchObject(t, await run(clean.folder, [...commit, '--all'], env), { code: 0 })
  })
})
