/**
 * The images, built with a real builder on a base image of this machine's programs.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { containsText, matchObject } from '../support/assertions.ts'
import { localBuilder } from '../support/local-base.ts'
import { startRegistry } from '../support/registry.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { composedService, jobsOfHosts } from './command-line.ts'

const root = path.resolve(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }

type Spdx = { packages: { name: string; licenseDeclared: string; checksums?: unknown[] }[] }

/** Builds the images in a separate store, and returns functions that run buildah. */
function setUp(t: Test) {
  const builder = localBuilder(t)
  if (builder === undefined) return undefined
  const { folder, base, env } = builder
  const buildah = (...words: string[]) =>
    execFileSync('buildah', words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  const build = async (...options: string[]): Promise<void> => {
    const words = [path.join(root, 'scripts/images/main.ts'), '--base', base, '--builder', 'buildah', ...options]
    await promisify(execFile)(process.execPath, words, { env })
  }
  return { folder, buildah, build, env }
}

void t.test('the images of controller, agent and command line contain their files and start', { timeout: 600_000 }, async (t) => {
  const images = setUp(t)
  if (images === undefined) return
  const { buildah, build, env } = images
  await build('--tag', 'first')

  for (const [target, user, files, program] of [
    ['controller', '65532:65532', ['controller.js', 'isolate.mjs', 'tracing.mjs', 'login.mjs', 'temporal.mjs'], '/app/controller.js'],
    ['agent', '2003:2003', ['agent.js', 'tracing.mjs', 'temporal.mjs'], '/app/agent.js'],
    ['cli', '2003:2003', ['program'], '/usr/local/bin/cluster-sync'],
  ] as const) {
    const container = buildah('from', `clustersync/${target}:first`)
    const mounted = buildah('mount', container)
    const app = path.join(mounted, 'app')

    t.strictSame(readdirSync(app), ['LICENSE', ...files, 'sbom.spdx.json', 'third-party-licenses.txt'].toSorted(), `files of ${target}`)
    for (const file of readdirSync(app, { recursive: true, encoding: 'utf8' })) {
      const { uid, mode } = statSync(path.join(app, file))
      const mayRun = file === 'program' || file === 'program/cluster-sync.mjs'
      t.strictSame([uid, mode & 0o777], [0, mayRun ? 0o755 : 0o644], `${file} belongs to root, and its user only reads it`)
    }

    const { OCIv1 } = JSON.parse(buildah('inspect', container)) as { OCIv1: { config: { User: string; Entrypoint: string[] } } }
    t.equal(OCIv1.config.User, user)
    t.equal(OCIv1.config.Entrypoint.at(-1), program)

    const { packages } = JSON.parse(readFileSync(path.join(app, 'sbom.spdx.json'), 'utf8')) as Spdx
    const [own, ...others] = packages
    matchObject(t, own, { name: `cluster-sync-${target}`, licenseDeclared: 'Apache-2.0' })
    t.match(
      others.map(({ name }) => name),
      /pino/,
    )
    const texts = readFileSync(path.join(app, 'third-party-licenses.txt'), 'utf8')
    for (const { name, licenseDeclared, checksums } of others) {
      t.ok(
        texts.includes(`${name} `) && licenseDeclared !== 'NOASSERTION' && checksums?.length === 1,
        `${name} with its licence and digest`,
      )
    }

    // Folders of the base belong to root, so this user's access proves that the programs find their files.
    const inside = (...words: string[]) => buildah('run', '--user', user, container, '--', ...words)
    t.equal(inside('node', '--version').trim(), process.version)
    if (target !== 'agent') {
      t.match(inside('git', '--version'), /^git version /)
      containsText(t, inside('gpgv', '--version'), 'gpgv')
      for (const program of ['ssh-add', 'ssh-agent']) t.match(inside('sh', '-c', `command -v ${program}`), new RegExp(`/${program}\\s*$`))
    }
    if (target === 'cli') {
      const { uid, gid, mode } = statSync(path.join(mounted, 'var/lib/cluster-sync'))
      t.strictSame([uid, gid, mode & 0o777], [2003, 2003, 0o700], 'a new volume for what is kept belongs to the user alone')
      t.equal(inside(...OCIv1.config.Entrypoint, '--version'), version)
      await t.test('the jobs for GitLab and GitHub run as written', async (t) => jobsOfHosts(t, { run: buildah, env }, container))
      await t.test('the service of examples/compose runs as written', async (t) => composedService(t, { run: buildah, env }, container))
      buildah('rm', container)
      continue
    }
    const started = (): string => {
      try {
        return inside(...OCIv1.config.Entrypoint)
      } catch (error) {
        return (error as { stderr: string }).stderr
      }
    }
    t.match(started(), new RegExp(`^cluster-sync ${target}: environment variable \\w+`), `${target} starts and says what it misses`)
    buildah('rm', container)
  }

  await build('--tag', 'second')
  for (const target of ['controller', 'agent', 'cli']) {
    const idOf = (tag: string) => buildah('images', '--quiet', '--no-trunc', `clustersync/${target}:${tag}`)
    t.equal(idOf('second'), idOf('first'), `two builds of ${target} have one digest`)
  }
})

void t.test('--push pushes the images and writes their digests into the values file', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'docker-registry')) return
  const images = setUp(t)
  if (images === undefined) return
  const { folder, build, env } = images
  const registry = await startRegistry(t, folder, env)
  const file = path.join(folder, 'plant-values.yaml')
  writeFileSync(file, '# The plant in the north.\nreplicaCount: 2\nimage: { pullPolicy: Always }\n')

  await build('--only', 'controller', '--only', 'agent', '--push', `${registry}/plant`, '--values', file)
  const tagOf = async (target: string): Promise<string> => {
    const accept = 'application/vnd.oci.image.manifest.v1+json'
    const answer = await fetch(`http://${registry}/v2/plant/${target}/manifests/${version}`, { headers: { accept } })
    return `${version}@${answer.headers.get('docker-content-digest')}`
  }
  const [controller, agent] = [await tagOf('controller'), await tagOf('agent')]
  t.match(controller, /@sha256:[0-9a-f]{64}$/)
  const written = readFileSync(file, 'utf8')
  t.equal(written.split('\n')[0], '# The plant in the north.')
  t.strictSame(parse(written), {
    replicaCount: 2,
    image: { pullPolicy: 'Always', repository: `${registry}/plant/controller`, tag: controller },
    agentImage: { repository: `${registry}/plant/agent`, tag: agent },
  })

  const manifests = path.join(folder, 'manifests')
  await promisify(execFile)('npx', ['cdk8s', 'synth', '--output', manifests], {
    cwd: root,
    env: { ...process.env, CLUSTER_SYNC_VALUES: file, CDK8S_CHECK_UPGRADE: 'false' },
  })
  const operator = readFileSync(path.join(manifests, 'operator.k8s.yaml'), 'utf8')
  containsText(t, operator, `image: ${registry}/plant/controller:${controller}`)
  containsText(t, operator, `${registry}/plant/agent:${agent}`)
})

void t.test('--help and an unknown option print the usage', async (t) => {
  const called = (option: string) => spawnSync(process.execPath, [path.join(root, 'scripts/images/main.ts'), option], { encoding: 'utf8' })
  const help = called('--help')
  t.strictSame([help.status, help.stderr], [0, ''])
  t.match(help.stdout, /^Usage: npm run images -- \[options\]\n/)
  const unknown = called('--pull')
  t.strictSame([unknown.status, unknown.stdout], [1, ''])
  t.match(unknown.stderr, /^Unknown option '--pull'/)
  t.equal(unknown.stderr.slice(-help.stdout.length - 1), `${help.stdout}\n`)
})

void t.test('--push refuses a values file that is no map before it builds', async (t) => {
  const folder = temporaryFolder(t, 'images')
  const file = path.join(folder, 'values.yaml')
  for (const [text, message] of [
    ['- image', `${file} must be a map of values`],
    ['image: [', `${file} is no YAML: `],
  ] as const) {
    writeFileSync(file, text)
    const { status, stderr } = spawnSync(
      process.execPath,
      [path.join(root, 'scripts/images/main.ts'), '--builder', 'buildah', '--push', '127.0.0.1:1/plant', '--values', file],
      { encoding: 'utf8' },
    )
    t.equal(status, 1)
    t.equal(stderr.slice(0, message.length), message)
    t.equal(readFileSync(file, 'utf8'), text)
  }
})
