/**
 * .github/workflows/release.yml as far as it runs without a registry: its steps are those of the project, and they build the files of a
 * release. test/images builds the images; this test checks their options.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { homeIn } from '../scripts/home.ts'
import { containsText, lacksText } from './support/assertions.ts'
import { temporaryFolder } from './support/repository.ts'

const root = path.resolve(import.meta.dirname, '..')
const read = (name: string): string => readFileSync(path.join(root, name), 'utf8')
const { version, scripts } = JSON.parse(read('package.json')) as { version: string; scripts: Record<string, string> }

type Step = { name?: string; uses?: string; run?: string; env?: Record<string, string> }
type Workflow = { on: unknown; jobs: { release: { env: { RELEASE: string }; steps: Step[] } } }

const { jobs, on } = parse(read('.github/workflows/release.yml')) as Workflow
const { steps } = jobs.release
const named = (name: string): string => steps.find((step) => step.name === name)?.run ?? ''

/** Runs a step like the shell of a runner, with a separate folder for released files. */
function step(name: string, env: Record<string, string>): { status: number | null; output: string } {
  return shell(named(name), root, {
    GITHUB_REF_NAME: `v${version}`,
    GITHUB_REPOSITORY: 'Plants/Cluster-Sync',
    GITHUB_SERVER_URL: 'https://git.example.com',
    BASE: 'base',
    ...env,
  })
}

/** Without the test runner's loader, which every child process of a test inherits and which does not support compilers. */
function shell(command: string, cwd: string, env: Record<string, string>): { status: number | null; output: string } {
  const words = ['NODE_OPTIONS=', 'bash', '-eo', 'pipefail', '-c', command]
  const { status, stdout, stderr } = spawnSync('env', words, { cwd, env: { ...process.env, ...env }, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

void t.test('a tag is released after .ci/run, by existing steps, without expressions in scripts and with one token', async (t) => {
  t.strictSame(on, { push: { tags: ['v*'] } })
  const commands = steps.map(({ run }) => run ?? '')
  for (const [, script = ''] of commands.join('\n').matchAll(/npm run (\S+)/g)) t.ok(script in scripts, script)
  t.ok(commands.indexOf('.ci/run') < commands.findIndex((run) => run.includes('docker push')))
  for (const run of commands) lacksText(t, run, '${{', 'what comes from outside is read from the environment by the shell')
  t.strictSame(
    steps.filter(({ env }) => env !== undefined).map(({ name }) => name),
    ['publish'],
    'no other step has the token',
  )
})

void t.test('chart, packages, documentation and manifests of a release are built', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t, 'release')
  const repository = 'registry.example.com/plants'
  const env = { RELEASE: folder, REPOSITORY: repository }
  for (const name of ['chart and manifests', 'package of the constructs', 'package of the command line', 'documentation']) {
    const { status, output } = step(name, env)
    t.equal(status, 0, status === 0 ? name : output)
  }
  t.strictSame(
    readdirSync(folder)
      .filter((name) => name !== 'docs')
      .toSorted(),
    [
      `cluster-sync-operator-${version}.tgz`,
      `cluster-sync-operator-cli-${version}.tgz`,
      `cluster-sync-operator-docs-${version}.tgz`,
      `cluster-sync-operator-infra-${version}.tgz`,
      'crds.k8s.yaml',
      'operator.k8s.yaml',
    ],
  )
  const chart = path.join(folder, `cluster-sync-operator-${version}.tgz`)
  containsText(t, spawnSync('tar', ['-tzf', chart], { encoding: 'utf8' }).stdout, 'cluster-sync-operator/Chart.yaml')
  const [, images = ''] = /for image in ([a-z ]+); do\n\s+docker push "\$REPOSITORY\/\$image:/.exec(named('publish')) ?? []
  const pushed = images.split(' ').map((name) => `${repository}/${name}`)
  const installed = {
    manifests: readFileSync(path.join(folder, 'operator.k8s.yaml'), 'utf8'),
    chart: spawnSync('tar', ['-xzOf', chart, 'cluster-sync-operator/values.yaml'], { encoding: 'utf8' }).stdout,
  }
  for (const [what, text] of Object.entries(installed)) {
    const images = new Set([...text.matchAll(/[\w./-]+\/(?:controller|agent)(?=[":\s])/g)].map(([image]) => image))
    t.strictSame([...images].toSorted(), [`${repository}/agent`, `${repository}/controller`], `the images of the ${what}`)
    for (const image of images) t.ok(pushed.includes(image), `${image} is pushed`)
  }
})

void t.test('the images are built with known options and a valid repository name', async (t) => {
  const folder = temporaryFolder(t, 'release-images')
  const place = path.join(folder, 'environment')
  t.equal(step('place of the images', { GITHUB_ENV: place }).status, 0)
  t.equal(readFileSync(place, 'utf8'), 'REPOSITORY=ghcr.io/plants/cluster-sync\n')
  containsText(t, named('images'), '--release --base "$BASE"')
  const refused = named('images').replace('--builder docker', '--builder none')
  const { status, output } = shell(refused, root, { GITHUB_REF_NAME: 'v1', REPOSITORY: 'a', BASE: 'b' })
  t.equal(status, 1)
  containsText(t, output, '--builder takes docker', 'every other option is known')
})

void t.test('a release is made only in the repository that package.json names', async (t) => {
  const { url } = homeIn(path.join(root, 'package.json'))
  const [, server = '', repository = ''] = /^(https:\/\/[^/]+)\/(.+)$/.exec(url) ?? []
  const run = (env: Record<string, string>): { status: number | null; output: string } =>
    shell(`"${process.execPath}" scripts/release-home.ts`, root, env)
  t.equal(run({ GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository }).status, 0)
  const other = run({ GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'plants/cluster-sync' })
  t.equal(other.status, 1)
  containsText(t, other.output, 'set "repository.url" to git+https://github.com/plants/cluster-sync.git')
  t.equal(named('package.json names this repository'), 'npm run release:home')
})

/** A project with its own changelog. */
function project(t: Test, changelog: string): string {
  const folder = temporaryFolder(t, 'release-notes')
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ version: '1.2.3', scripts }))
  writeFileSync(path.join(folder, 'CHANGELOG.md'), changelog)
  mkdirSync(path.join(folder, 'scripts'))
  symlinkSync(path.join(root, 'scripts/release-notes.ts'), path.join(folder, 'scripts/release-notes.ts'))
  return folder
}

function notes(folder: string, tag: string): { status: number | null; output: string; file: string } {
  const file = path.join(folder, 'out/notes.md')
  return { ...shell(`"${process.execPath}" scripts/release-notes.ts ${tag} "${file}"`, folder, {}), file }
}

void t.test('the release notes are the changelog section of the version', async (t) => {
  const folder = project(t, '# Changelog\n\n## Unreleased\n\n- next\n\n## 1.2.3 (2026-01-02)\n\n- one\n- two\n\n## 1.2.2\n\n- old\n')
  const { status, file } = notes(folder, 'v1.2.3')
  t.equal(status, 0)
  t.equal(readFileSync(file, 'utf8'), '- one\n- two\n')
})

void t.test('a tag of another version and a version without a changelog section are refused', async (t) => {
  const folder = project(t, '# Changelog\n\n## Unreleased\n\n- next\n\n## 1.2.30\n\n- other\n')
  for (const [tag, message] of [
    ['v1.2.4', 'the tag v1.2.4 is not v1.2.3'],
    ['1.2.3', 'the tag 1.2.3 is not v1.2.3'],
    ['v1.2.3', 'CHANGELOG.md has nothing under "## 1.2.3"'],
  ] as const) {
    const { status, output, file } = notes(folder, tag)
    t.equal(status, 1, tag)
    containsText(t, output, message)
    t.notOk(existsSync(file))
  }
})
