/**
 * `npm run images`: bundles the programs, makes the folder that they copy from, and builds all three with docker, podman or buildah. Two runs
 * over the same sources and the same base make images with the same digest.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  type Dirent,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Document, isMap, parseDocument } from 'yaml'
import { version } from '../../runtime/platform/version.ts'
import { buildArguments, type Builder, builders, findBuilder, pushImage, saveArguments } from './builder.ts'
import { compileCli } from '../package/cli/compile.ts'
import { bundledPackages, licenseTexts, type Metafile, readMetafile, spdxDocument } from './sbom.ts'

const usage = `Usage: npm run images -- [options]

Builds the images of the controller, the agent and the command line (cli).

  --push PREFIX      push them to PREFIX/controller, PREFIX/agent and PREFIX/cli, and write the repositories and digests
                     of the controller and the agent into the values file; log in to the registry first
  --values FILE      values file of --push, for cdk8s synth and Helm (default: values.yaml)
  --repository NAME  prefix of the names without --push (default: clustersync)
  --only NAME        build only this image; repeatable (default: controller, agent and cli)
  --tag TAG          tag of the images (default: ${version})
  --base IMAGE       base image (default: as in the Dockerfile)
  --release          refuse a base image without a digest
  --platform P       such as linux/arm64 (default: that of this machine)
  --save FOLDER      also write each image as an archive
  --sbom FOLDER      also write the bill of materials of each image
  --builder NAME     docker, podman or buildah (default: the first that works)
`

const root = path.resolve(import.meta.dirname, '../..')
const work = mkdtempSync(path.join(tmpdir(), 'cluster-sync-images-'))
process.on('exit', () => rmSync(work, { recursive: true, force: true }))
const bundles = path.join(work, 'bundles')
const context = path.join(work, 'context')
/**
 * The bundles of an image in /app, beside its licenses and its bill of materials. The image of the command line has a folder of programs.
 */
const programs = {
  controller: ['controller.js', 'isolate.mjs', 'tracing.mjs', 'login.mjs', 'temporal.mjs'],
  agent: ['agent.js', 'tracing.mjs', 'temporal.mjs'],
}
const targets = [...(Object.keys(programs) as (keyof typeof programs)[]), 'cli'] as const
type Target = (typeof targets)[number]
/** The folder of the command line below /var/lib, without access for other users. */
const stateFolder = 'cluster-sync'

const values = readOptions()
if (values.help) {
  process.stdout.write(usage)
  process.exit()
}
const builder = chosenBuilder(values.builder)
const timestamp = sourceTime()
const repository = values.push ?? values.repository
/** The keys of the values that name an image; the command line has none. */
const keyOf = { controller: 'image', agent: 'agentImage', cli: undefined } as const
// Read first, so that a file with mistakes is refused before anything is built.
const installed = values.push === undefined ? undefined : readValues(values.values)

const chosen = chosenTargets(values.only)
if (chosen.some((target) => target !== 'cli'))
  execFileSync(process.execPath, [path.join(root, 'scripts/bundle.ts'), bundles], { stdio: 'inherit' })

for (const target of chosen) {
  await fillContext(target)
  const name = `${repository}/${target}:${values.tag}`
  const { base, release, platform } = values
  const image = { target, name, dockerfile: path.join(root, 'Dockerfile'), context, base, release, platform, timestamp }
  run(builder, buildArguments(builder, image))
  process.stdout.write(`built ${name}, ${(compressedBytes(path.join(context, target)) / 1e6).toFixed(1)} MB compressed beside its base\n`)
  if (values.save !== undefined) save(name, path.join(values.save, `${target}.tar`))
  if (values.sbom !== undefined)
    copyFileSync(path.join(context, target, 'app/sbom.spdx.json'), path.join(values.sbom, `${target}.spdx.json`))
  if (installed === undefined) continue
  const digest = pushImage(builder, name)
  process.stdout.write(`pushed ${name}@${digest}\n`)
  const key = keyOf[target]
  if (key === undefined) continue
  installed.setIn([key, 'repository'], `${repository}/${target}`)
  installed.setIn([key, 'tag'], `${values.tag}@${digest}`)
}
if (installed !== undefined && chosen.some((target) => keyOf[target] !== undefined)) {
  writeFileSync(values.values, installed.toString({ lineWidth: 0 }))
  process.stdout.write(
    `wrote ${values.values}: use it with CLUSTER_SYNC_VALUES=${values.values} npx cdk8s synth, or helm --values ${values.values}\n`,
  )
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        push: { type: 'string' },
        values: { type: 'string', default: 'values.yaml' },
        repository: { type: 'string', default: 'clustersync' },
        only: { type: 'string', multiple: true, default: [...targets] },
        tag: { type: 'string', default: version },
        base: { type: 'string' },
        release: { type: 'boolean', default: false },
        platform: { type: 'string' },
        save: { type: 'string' },
        sbom: { type: 'string' },
        builder: { type: 'string' },
      },
    }).values
  } catch (error) {
    return fail(`${(error as Error).message}\n\n${usage}`)
  }
}

function save(name: string, archive: string): void {
  mkdirSync(path.dirname(archive), { recursive: true })
  rmSync(archive, { force: true })
  run(builder, saveArguments(builder, name, archive))
  process.stdout.write(`wrote ${archive}\n`)
}

/** Keeps comments and other keys. A new file is empty. */
function readValues(file: string): Document {
  if (!existsSync(file)) return new Document({})
  const document: Document = parseDocument(readFileSync(file, 'utf8'))
  const [error] = document.errors
  if (error !== undefined) fail(`${file} is no YAML: ${error.message}`)
  if (document.contents === null) return new Document({})
  if (!isMap(document.contents)) fail(`${file} must be a map of values`)
  return document
}

function chosenBuilder(named: string | undefined): Builder {
  const known = builders.find((each) => each === named)
  if (named !== undefined && known === undefined) fail(`--builder takes ${builders.join(', ')}, not ${named}`)
  return known ?? findBuilder() ?? fail(`none of ${builders.join(', ')} works here; install one of them, such as Debian's buildah`)
}

function chosenTargets(named: readonly string[]): readonly Target[] {
  const unknown = named.find((name) => !targets.some((target) => target === name))
  if (unknown !== undefined) fail(`--only takes ${targets.join(', ')}, not ${unknown}`)
  return targets.filter((target) => named.includes(target))
}

/** When the sources were committed, or 1970 for sources without a history. */
function sourceTime(): number {
  const { stdout, status } = spawnSync('git', ['-C', root, 'log', '-1', '--format=%ct'], { encoding: 'utf8' })
  return status === 0 ? Number(stdout.trim()) : 0
}

/** Makes the folder that an image copies from: `app`, and for the command line what else it has. */
async function fillContext(target: Target): Promise<void> {
  const folder = path.join(context, target, 'app')
  mkdirSync(folder, { recursive: true })
  const packages = bundledPackages(root, target === 'cli' ? await fillCli(folder) : copyBundles(programs[target], folder))
  copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
  const { license } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { license: string }
  const created = new Date(timestamp * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
  const document = spdxDocument({ name: `cluster-sync-${target}`, version, license }, packages, created)
  writeFileSync(path.join(folder, 'sbom.spdx.json'), `${JSON.stringify(document, undefined, 2)}\n`)
  writeFileSync(path.join(folder, 'third-party-licenses.txt'), licenseTexts(root, packages))
  // The permissions of a copied file are part of the digest, while the umask of the builder must not be.
  chmodSync(path.join(context, target), 0o755)
  for (const entry of readdirSync(path.join(context, target), { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    chmodSync(path.join(entry.parentPath, entry.name), modeOf(entry))
  }
}

function modeOf(entry: Dirent): number {
  if (entry.isDirectory()) return entry.name === stateFolder ? 0o700 : 0o755
  return entry.name === 'cluster-sync.mjs' ? 0o755 : 0o644
}

function copyBundles(files: readonly string[], folder: string): Metafile[] {
  for (const file of files) copyFileSync(path.join(bundles, file), path.join(folder, file))
  return files.map((file) => readMetafile(path.join(bundles, `${file}.meta.json`)))
}

/** The programs, the name by which they are called, and an empty folder for what `run` keeps. */
async function fillCli(folder: string): Promise<Metafile[]> {
  const metafile = await compileCli(path.join(folder, 'program'))
  for (const name of ['bin', `lib/${stateFolder}`]) mkdirSync(path.join(folder, '..', name), { recursive: true })
  symlinkSync('/app/program/cluster-sync.mjs', path.join(folder, '../bin/cluster-sync'))
  return [metafile]
}

/** What the files of a folder take, packed as in a registry. */
function compressedBytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return gzipSync(Buffer.concat(files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name))))).length
}

function run(program: string, words: readonly string[]): void {
  const { status, error } = spawnSync(program, words, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) fail(`${program} ${words[0] ?? ''} ended with ${error?.message ?? status}`)
}

function fail(why: string): never {
  process.stderr.write(`${why}\n`)
  process.exit(1)
}
