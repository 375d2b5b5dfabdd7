/**
 * `npm run release`: makes everything that a release publishes, as files of one folder: the images for all platforms as OCI archives, the
 * chart, manifests with the digests of the images, npm packages, documentation, SBOMs, provenance, notes and checksums. It must run in the
 * repository that package.json names as the home, at the tag of the version, without uncommitted changes.
 *   --dry-run          anywhere, and without the images for platforms whose programs this machine cannot run
 *   --publish          pushes images and chart of the folder that an earlier run has made, and prints where and with which digests; log in first
 *   --folder FOLDER    (default: build/release)
 *   --repository NAME  of images and charts (default: ghcr.io/<owner>/<name>, and with --dry-run 127.0.0.1:5000/<name>)
 *   --base IMAGE       the base of the images, with its digest unless with --dry-run
 *   --platform P       may be repeated (default: linux/amd64 and linux/arm64)
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { version } from '../../runtime/platform/version.ts'
import { homeIn } from '../home.ts'
import { checksumsOf, verifyChecksums, writeChecksums } from './checksums.ts'
import { buildImages } from './images.ts'
import { notesOf } from './notes.ts'
import { makePackages } from './packages.ts'
import { provenanceOf } from './provenance.ts'
import { publish } from './publish.ts'
import { outputOf, root } from './run.ts'

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    publish: { type: 'boolean', default: false },
    folder: { type: 'string', default: path.join(root, 'build/release') },
    repository: { type: 'string' },
    base: { type: 'string', default: 'docker.io/library/node:26-trixie-slim' },
    platform: { type: 'string', multiple: true, default: ['linux/amd64', 'linux/arm64'] },
  },
})
const { 'dry-run': isDryRun, base } = values
const folder = path.resolve(values.folder)
const { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY: madeIn = '', GITHUB_REF_NAME: tag = '' } = process.env
/** The first file that is written: only a folder with it is replaced. */
const notesFile = 'notes.md'
/** How the kernel names what runs programs of another architecture, by the name of the platform. */
const emulators: Readonly<Record<string, string>> = { 'linux/amd64': 'qemu-x86_64', 'linux/arm64': 'qemu-aarch64' }
const ownPlatform = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`

try {
  const home = homeIn(path.join(root, 'package.json'))
  const repository = values.repository ?? (isDryRun ? `127.0.0.1:5000/${home.name}` : `ghcr.io/${madeIn.toLowerCase()}`)
  if (values.publish) publishFolder(repository)
  else make(home.url, repository)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

function make(home: string, repository: string): void {
  const hasChanges = outputOf('git', ['status', '--porcelain']) !== ''
  if (!isDryRun) checkRelease(home, hasChanges)
  const notes = notesOf(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'), version)
  const platforms = values.platform.filter(canBuild)
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, notesFile)))
    throw new Error(`${folder} contains files that no release wrote; specify an empty or a new folder`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, notesFile), notes)
  const images = buildImages({ folder, repository, base, platforms, isRelease: !isDryRun })
  makePackages({ folder, images, source: `${home}/blob/v${version}` })
  const artifacts = [
    ...images.map(({ repository: name, digest }) => ({ name, digest: { sha256: digest.replace(/^sha256:/, '') } })),
    ...checksumsOf(folder).map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
  ]
  const commit = outputOf('git', ['rev-parse', 'HEAD'])
  const workflow = process.env['GITHUB_WORKFLOW_REF']
  const builder = workflow === undefined ? `${home}#local` : `${server}/${workflow}`
  const making = { home, commit, hasChanges, version, base, platforms, builder }
  writeFileSync(path.join(folder, 'provenance.unsigned.intoto.jsonl'), provenanceOf(artifacts, making))
  writeChecksums(folder)
  process.stdout.write(`wrote ${folder}\n`)
}

/** Throws unless the files would be those of a release. */
function checkRelease(home: string, hasChanges: boolean): void {
  const made = `${server}/${madeIn}`
  if (home.toLowerCase() !== made.toLowerCase())
    throw new Error(
      `package.json names ${home} as the home of the project, but this release is made in ${made}: set "repository.url" to git+${made}.git, run npm run generate, and commit both; or use --dry-run`,
    )
  if (tag !== `v${version}`) throw new Error(`the tag ${tag} is not v${version}, which package.json names`)
  if (!/@sha256:[0-9a-f]{64}$/.test(base)) throw new Error(`--base takes an image with its digest (@sha256:…), not ${base}`)
  if (hasChanges) throw new Error('the checkout has uncommitted changes: commit or remove them')
}

/** Throws for a platform that a release needs. */
function canBuild(platform: string): boolean {
  const emulator = emulators[platform]
  if (emulator === undefined) throw new Error(`--platform takes ${Object.keys(emulators).join(', ')}, not ${platform}`)
  if (platform === ownPlatform || existsSync(path.join('/proc/sys/fs/binfmt_misc', emulator))) return true
  const why = `this machine cannot run programs of ${platform}: install qemu-user-static`
  if (!isDryRun) throw new Error(why)
  process.stderr.write(`no images for ${platform}: ${why}\n`)
  return false
}

function publishFolder(repository: string): void {
  verifyChecksums(folder)
  process.stdout.write(`repository=${repository}\n`)
  for (const { program, digest } of publish(folder, repository)) process.stdout.write(`${program}=${digest}\n`)
}
