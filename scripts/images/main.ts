/**
 * `npm run images`: bundles the programs, makes the folder that they copy from, and builds both with docker, podman or buildah.
 *   --repository NAME  where they will be pulled from; the images are NAME/controller and NAME/agent (default: clustersync)
 *   --tag TAG          (default: the version)
 *   --base IMAGE       the base image, as in the Dockerfile; for a release with its digest
 *   --release          refuses a base without a digest
 *   --platform P       such as linux/arm64 (default: that of this machine)
 *   --save FOLDER      writes each image as an archive too
 *   --builder NAME     docker, podman or buildah (default: the first that works)
 * Two runs over the same sources and the same base make images with the same digest.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { version } from '../../runtime/version.ts'
import { buildArguments, type Builder, builders, findBuilder, saveArguments } from './builder.ts'
import { bundledPackages, licenceTexts, readMetafile, spdxDocument } from './sbom.ts'

const root = path.resolve(import.meta.dirname, '../..')
const work = mkdtempSync(path.join(tmpdir(), 'cluster-sync-images-'))
process.on('exit', () => rmSync(work, { recursive: true, force: true }))
const bundles = path.join(work, 'bundles')
const context = path.join(work, 'context')
/** What each image has in /app beside its licences and its bill of materials. */
const programs = { controller: ['controller.js', 'isolate.mjs', 'tracing.mjs', 'login.mjs'], agent: ['agent.js', 'tracing.mjs'] }

const { values } = parseArgs({
  options: {
    repository: { type: 'string', default: 'clustersync' },
    tag: { type: 'string', default: version },
    base: { type: 'string' },
    release: { type: 'boolean', default: false },
    platform: { type: 'string' },
    save: { type: 'string' },
    builder: { type: 'string' },
  },
})
const builder = chosenBuilder(values.builder)
const timestamp = sourceTime()

execFileSync(process.execPath, [path.join(root, 'scripts/bundle.ts'), bundles], { stdio: 'inherit' })
for (const [target, files] of Object.entries(programs)) fillContext(target, files)

for (const target of Object.keys(programs)) {
  const name = `${values.repository}/${target}:${values.tag}`
  const { base, release, platform } = values
  const image = { target, name, dockerfile: path.join(root, 'Dockerfile'), context, base, release, platform, timestamp }
  run(builder, buildArguments(builder, image))
  process.stdout.write(`built ${name}, ${(compressedBytes(path.join(context, target)) / 1e6).toFixed(1)} MB compressed beside its base\n`)
  if (values.save === undefined) continue
  mkdirSync(values.save, { recursive: true })
  const archive = path.join(values.save, `${target}.tar`)
  rmSync(archive, { force: true })
  run(builder, saveArguments(builder, name, archive))
  process.stdout.write(`wrote ${archive}\n`)
}

function chosenBuilder(named: string | undefined): Builder {
  const known = builders.find((each) => each === named)
  if (named !== undefined && known === undefined) fail(`--builder takes ${builders.join(', ')}, not ${named}`)
  return known ?? findBuilder() ?? fail(`none of ${builders.join(', ')} works here; install one of them, such as Debian's buildah`)
}

/** When the sources were committed, or 1970 for sources without a history. */
function sourceTime(): number {
  const { stdout, status } = spawnSync('git', ['-C', root, 'log', '-1', '--format=%ct'], { encoding: 'utf8' })
  return status === 0 ? Number(stdout.trim()) : 0
}

function fillContext(target: string, files: readonly string[]): void {
  const folder = path.join(context, target)
  mkdirSync(folder, { recursive: true })
  for (const file of files) copyFileSync(path.join(bundles, file), path.join(folder, file))
  copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
  const packages = bundledPackages(
    root,
    files.map((file) => readMetafile(path.join(bundles, `${file}.meta.json`))),
  )
  const { license } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { license: string }
  const created = new Date(timestamp * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
  const document = spdxDocument({ name: `cluster-sync-${target}`, version, license }, packages, created)
  writeFileSync(path.join(folder, 'sbom.spdx.json'), `${JSON.stringify(document, undefined, 2)}\n`)
  writeFileSync(path.join(folder, 'third-party-licenses.txt'), licenceTexts(root, packages))
  // The rights of a copied file are part of the digest, and the umask of whoever builds is not.
  for (const file of readdirSync(folder)) chmodSync(path.join(folder, file), 0o644)
  chmodSync(folder, 0o755)
}

/** What the files of a folder take, packed as in a registry. */
function compressedBytes(folder: string): number {
  return gzipSync(Buffer.concat(readdirSync(folder).map((file) => readFileSync(path.join(folder, file))))).length
}

function run(program: string, words: readonly string[]): void {
  const { status, error } = spawnSync(program, words, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) fail(`${program} ${words[0] ?? ''} ended with ${error?.message ?? status}`)
}

function fail(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(1)
}
