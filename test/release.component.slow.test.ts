/**
 * `npm run release`: a dry run makes the files of a release, which agree with each other, and `--publish` pushes them to a registry, from
 * which Helm installs the same images. `.github/workflows/release.yml` runs the same script. test/e2e/node installs such files on a node.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { homeIn } from '../scripts/home.ts'
import { notesOf } from '../scripts/release/notes.ts'
import { containsText, lacksText, throwsError } from './support/assertions.ts'
import { ensureProgram } from './cluster/binaries.ts'
import { canRunHelm, helmOf } from './support/helm.ts'
import { localBuilder } from './support/local-base.ts'
import { freePort } from './support/ports.ts'
import { startRegistry } from './support/registry.ts'
import { temporaryFolder } from './support/repository.ts'
import { requires } from './support/requires.ts'

const root = path.resolve(import.meta.dirname, '..')
const read = (name: string): string => readFileSync(path.join(root, name), 'utf8')
const { version, scripts } = JSON.parse(read('package.json')) as { version: string; scripts: Record<string, string> }
const architecture = process.arch === 'x64' ? 'amd64' : process.arch
const programs = ['controller', 'agent', 'cli'] as const

type Step = { name?: string; run?: string; env?: Record<string, string> }
type Workflow = { on: unknown; jobs: { release: { env: { RELEASE: string }; steps: Step[] } } }
type Ended = { status: number | null; stdout: string; stderr: string }
type Files = { folder: string; repository: string; digests: Record<(typeof programs)[number], string> }
type Statement = { subject: { name: string; digest: { sha256: string } }[]; predicate: { buildDefinition: BuildDefinition } }
type BuildDefinition = { externalParameters: object; resolvedDependencies: { uri: string; digest?: object }[] }

/** Runs the script as `npm run release` does, without the test runner's loader, which does not support compilers. */
function release(words: readonly string[], env: NodeJS.ProcessEnv = process.env): Ended {
  const all = ['NODE_OPTIONS=', process.execPath, path.join(root, 'scripts/release/main.ts'), ...words]
  return spawnSync('env', all, { cwd: root, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
}

void t.test('a tag is made into files, checked and published, without expressions in scripts and with one token', async (t) => {
  const { jobs, on } = parse(read('.github/workflows/release.yml')) as Workflow
  const { steps, env } = jobs.release
  t.strictSame(on, { push: { tags: ['v*'] } })
  t.equal(env.RELEASE, 'build/release')
  t.equal(scripts['release'], 'node scripts/ensure.mjs --no-test-runner node scripts/release/main.ts')
  const commands = steps.map(({ run }) => run ?? '')
  const place = (part: string): number => commands.findIndex((run) => run.includes(part))
  const order = [
    'npm run release -- --base "$BASE"',
    '.ci/run',
    'npm run --silent release -- --publish >>"$GITHUB_OUTPUT"',
    'gh release create',
  ]
  const places = order.map(place)
  t.ok(places.every((at) => at >= 0) && String(places) === String(places.toSorted((a, b) => a - b)), String(places))
  for (const run of commands) lacksText(t, run, '${{', 'what comes from outside is read from the environment by the shell')
  t.strictSame(
    steps.filter(({ env }) => env !== undefined).map(({ name }) => name),
    ['publish'],
    'no other step has the token',
  )
})

void t.test('the files of a release agree with each other, and a registry gets exactly them', { timeout: 800_000 }, async (t) => {
  if (!requires(t, 'tar', 'sha256sum', 'docker-registry') || !canRunHelm(t)) return
  const builder = localBuilder(t)
  if (builder === undefined) return
  const { base, env } = builder
  const registry = await startRegistry(t, builder.folder, env, await freePort())
  const folder = path.join(builder.folder, 'release')
  const repository = `${registry}/plants`
  const options = ['--folder', folder, '--repository', repository]
  const isEmulated = existsSync('/proc/sys/fs/binfmt_misc/qemu-aarch64') || architecture === 'arm64'
  const platforms = isEmulated ? ['--platform', `linux/${architecture}`] : []
  const made = release(['--dry-run', ...options, '--base', base, ...platforms], env)
  t.equal(made.status, 0, made.stderr)
  if (!isEmulated)
    t.match(made.stderr, /^no images for linux\/arm64: this machine cannot run programs of linux\/arm64: install qemu-user-static$/m)
  const files: Files = { folder, repository, digests: digestsOf(t, folder) }

  await t.test('every file is there and has its checksum', async (t) => checksums(t, files))
  await t.test('chart, manifests and packages name the images by digest', async (t) => names(t, files))
  await t.test('each image holds the SBOM beside it', async (t) => sboms(t, files))
  await t.test('every artifact has a statement about its sources', async (t) => provenance(t, files, base))
  const helm = await ensureProgram('helm', (line) => t.comment(line))
  const withHelm = { ...env, PATH: [path.dirname(helm), env['PATH']].join(path.delimiter), HOME: builder.folder }
  await t.test('--publish pushes images and chart as they are', async (t) => {
    const { status, stdout, stderr } = release(['--publish', ...options], withHelm)
    t.equal(status, 0, stderr)
    t.equal(stdout, [`repository=${repository}`, ...programs.map((name) => `${name}=${files.digests[name]}`), ''].join('\n'))
    for (const name of programs) t.equal(await digestIn(registry, `plants/${name}`), files.digests[name], name)
    const run = await helmOf(t, { cwd: folder })
    const chart = [`oci://${repository}/charts/cluster-sync-operator`, '--version', version, '--plain-http']
    const rendered = await run('template', 'cluster-sync-operator', ...chart)
    t.strictSame(new Set(imagesOf(rendered.stdout)), new Set(expectedImages(files)), rendered.stderr)
  })
  await t.test('--publish refuses files that changed after they were made', async (t) => {
    appendFileSync(path.join(folder, 'crds.k8s.yaml'), '\n')
    const { status, stdout, stderr } = release(['--publish', ...options], withHelm)
    t.strictSame([status, stdout], [1, ''])
    t.equal(stderr, `${folder} does not contain the files of its sha256sums.txt; create the release again\n`)
  })
})

function checksums(t: Test, { folder }: Files): void {
  const name = 'cluster-sync-operator'
  const images = programs.flatMap((program) => [`${name}-${program}-${version}.oci.tar`, `${name}-${program}-${version}.spdx.json`])
  const packages = ['', '-cli', '-docs', '-infra'].map((part) => `${name}${part}-${version}.tgz`)
  const texts = ['crds.k8s.yaml', 'operator.k8s.yaml', 'notes.md', 'provenance.unsigned.intoto.jsonl']
  const all = [...images, ...packages, ...texts].toSorted()
  t.strictSame(readdirSync(folder).toSorted(), [...all, 'sha256sums.txt'].toSorted())
  const { status, stdout } = spawnSync('sha256sum', ['--check', '--strict', 'sha256sums.txt'], { cwd: folder, encoding: 'utf8' })
  t.equal(status, 0)
  t.strictSame(
    stdout.trim().split('\n').toSorted(),
    all.map((file) => `${file}: OK`),
  )
}

/** Unpacks the images. Each blob has the digest of its name, and the index names one image for this platform. Returns the digests. */
function digestsOf(t: Test, folder: string): Files['digests'] {
  const digests = programs.map((program) => {
    const layout = layoutOf(folder, program)
    mkdirSync(layout)
    spawnSync('tar', ['-xf', path.join(folder, `cluster-sync-operator-${program}-${version}.oci.tar`), '-C', layout])
    for (const blob of readdirSync(path.join(layout, 'blobs/sha256')))
      t.equal(
        createHash('sha256')
          .update(readFileSync(path.join(layout, 'blobs/sha256', blob)))
          .digest('hex'),
        blob,
      )
    const [first] = (JSON.parse(readFileSync(path.join(layout, 'index.json'), 'utf8')) as Index).manifests
    const index = blobOf(layout, first?.digest) as Index
    t.strictSame(
      index.manifests.map(({ platform }) => platform),
      [{ architecture, os: 'linux' }],
    )
    return [program, first?.digest ?? ''] as const
  })
  return Object.fromEntries(digests) as Files['digests']
}

type Index = { manifests: { digest: string; platform?: object }[] }

function layoutOf(folder: string, program: string): string {
  return path.join(folder, '..', `layout-${program}`)
}

function blobOf(layout: string, digest = ''): unknown {
  return JSON.parse(readFileSync(path.join(layout, 'blobs', digest.replace(':', '/')), 'utf8'))
}

function expectedImages({ repository, digests }: Files): string[] {
  return ['controller', 'agent'].map((name) => `${repository}/${name}:${version}@${digests[name as 'agent' | 'controller']}`)
}

/** The images that a text names, in the order of their first mention. */
function imagesOf(text: string): string[] {
  return [...new Set([...text.matchAll(/[\w.:/-]+\/(?:controller|agent):[\w.-]+(?:@sha256:\w+)?/g)].map(([image]) => image))]
}

function names(t: Test, files: Files): void {
  const { folder, repository, digests } = files
  const inArchive = (archive: string, file: string): string =>
    spawnSync('tar', ['-xzOf', path.join(folder, archive), file], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).stdout
  t.strictSame(new Set(imagesOf(readFileSync(path.join(folder, 'operator.k8s.yaml'), 'utf8'))), new Set(expectedImages(files)))
  const chart = `cluster-sync-operator-${version}.tgz`
  const { image, agentImage } = parse(inArchive(chart, 'cluster-sync-operator/values.yaml')) as Record<string, Record<string, string>>
  const named = (program: 'agent' | 'controller') => ({ repository: `${repository}/${program}`, tag: `${version}@${digests[program]}` })
  t.strictSame([image, agentImage], [{ ...named('controller'), pullPolicy: 'IfNotPresent' }, named('agent')])
  const constructs = inArchive(`cluster-sync-operator-infra-${version}.tgz`, 'package/infra/index.js')
  for (const digest of [digests.controller, digests.agent]) containsText(t, constructs, digest, 'the constructs have the digest')
  for (const [part, name] of Object.entries({ infra: 'cluster-sync-operator', cli: 'cluster-sync-operator-cli' })) {
    const manifest = JSON.parse(inArchive(`cluster-sync-operator-${part}-${version}.tgz`, 'package/package.json')) as Record<
      string,
      unknown
    >
    t.strictSame([manifest['name'], manifest['version']], [name, version])
  }
  const page = inArchive(`cluster-sync-operator-docs-${version}.tgz`, 'docs/index.html')
  containsText(t, page, `${homeIn(path.join(root, 'package.json')).url}/blob/v${version}/`, 'links lead to the files of the tag')
}

function sboms(t: Test, { folder, digests }: Files): void {
  for (const program of programs) {
    const layout = layoutOf(folder, program)
    const [image] = (blobOf(layout, digests[program]) as Index).manifests
    const { layers } = blobOf(layout, image?.digest) as { layers: { digest: string }[] }
    const inside = layers.map(({ digest }) => {
      const blob = path.join(layout, 'blobs', digest.replace(':', '/'))
      return spawnSync('tar', ['-xzOf', blob, 'app/sbom.spdx.json'], { encoding: 'utf8' }).stdout
    })
    const beside = readFileSync(path.join(folder, `cluster-sync-operator-${program}-${version}.spdx.json`), 'utf8')
    t.strictSame(
      inside.filter((text) => text !== ''),
      [beside],
      program,
    )
    t.equal((JSON.parse(beside) as { name: string }).name, `cluster-sync-${program}-${version}`)
  }
}

function provenance(t: Test, { folder, repository, digests }: Files, base: string): void {
  const lines = readFileSync(path.join(folder, 'provenance.unsigned.intoto.jsonl'), 'utf8').trim().split('\n')
  const statements = lines.map((line) => JSON.parse(line) as Statement & Record<string, unknown>)
  const sums = readFileSync(path.join(folder, 'sha256sums.txt'), 'utf8').trim().split('\n')
  const files = sums.map((line) => line.split('  ')).filter(([, name]) => name?.startsWith('provenance.') === false)
  const images = programs.map((program) => [digests[program].replace('sha256:', ''), `${repository}/${program}`])
  t.strictSame(
    statements.map(({ subject }) => subject),
    [...images, ...files].map(([sha256, name]) => [{ name, digest: { sha256 } }]),
  )
  const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout.trim()
  for (const { _type, predicateType, predicate } of statements) {
    t.strictSame([_type, predicateType], ['https://in-toto.io/Statement/v1', 'https://slsa.dev/provenance/v1'])
    const { externalParameters, resolvedDependencies } = predicate.buildDefinition
    t.strictSame(externalParameters, { version, base, platforms: [`linux/${architecture}`] })
    t.strictSame(resolvedDependencies[0]?.digest, { gitCommit: commit })
  }
}

async function digestIn(registry: string, name: string): Promise<string | null> {
  const accept = 'application/vnd.oci.image.index.v1+json'
  const answer = await fetch(`http://${registry}/v2/${name}/manifests/${version}`, { headers: { accept } })
  return answer.headers.get('docker-content-digest')
}

void t.test('without --dry-run the home, the tag and the digest of the base must be right', async (t) => {
  const folder = temporaryFolder(t, 'release')
  const { url } = homeIn(path.join(root, 'package.json'))
  const [, server = '', repository = ''] = /^(https:\/\/[^/]+)\/(.+)$/.exec(url) ?? []
  const right = { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_REF_NAME: `v${version}` }
  for (const [env, message] of [
    [
      { ...right, GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'a/b' },
      `set "repository.url" to git+https://github.com/a/b.git`,
    ],
    [{ ...right, GITHUB_REF_NAME: version }, `the tag ${version} is not v${version}, which package.json names`],
    [{ ...right, GITHUB_REF_NAME: 'v1.2.3' }, `the tag v1.2.3 is not v${version}, which package.json names`],
    [right, '--base takes an image with its digest (@sha256:…), not node:26'],
  ] as const) {
    const { status, stderr } = release(['--folder', folder, '--base', 'node:26'], { ...process.env, ...env })
    t.equal(status, 1)
    containsText(t, stderr, message)
    t.strictSame(readdirSync(folder), [])
  }
})

void t.test('a release does not replace a folder with other files', async (t) => {
  const folder = temporaryFolder(t, 'release')
  mkdirSync(path.join(folder, 'mine'))
  const { status, stderr } = release(['--dry-run', '--folder', folder, '--base', 'none'])
  t.equal(status, 1)
  t.equal(stderr.split('\n').at(-2), `${folder} contains files that no release wrote; specify an empty or a new folder`)
  t.strictSame(readdirSync(folder), ['mine'])
})

void t.test('the notes are the changelog section of the version', async (t) => {
  const changelog = '# Changelog\n\n## Unreleased\n\n- next\n\n## 1.2.3 (2026-01-02)\n\n- one\n- two\n\n## 1.2.2\n\n- old\n'
  t.equal(notesOf(changelog, '1.2.3'), '- one\n- two\n')
  throwsError(t, () => notesOf(changelog, '1.2'), { message: /CHANGELOG\.md has nothing under "## 1\.2"/ })
})
