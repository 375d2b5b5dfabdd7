/**
 * Installed packages are byte for byte the locked ones.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { imageFlags } from './support/image-flags.ts'

const root = path.resolve(import.meta.dirname, '..')

type Locked = { version?: string; integrity?: string; link?: boolean; inBundle?: boolean }

/** The packages of the project, and those of mutation testing. */
const folders = ['', 'scripts/mutation']

function lockfile(folder: string): Record<string, Locked> {
  return (JSON.parse(readFileSync(path.join(root, folder, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }).packages
}

void t.test('every package of a lockfile has the digest of its contents', async (t) => {
  for (const folder of folders) {
    // The digest of a package also covers its bundled packages.
    const packages = Object.entries(lockfile(folder)).filter(
      ([name, { link, inBundle }]) => name !== '' && link !== true && inBundle !== true,
    )
    t.ok(packages.length > 100, `${packages.length} packages`)
    t.strictSame(
      packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')).map(([name]) => name),
      [],
    )
  }
})

void t.test('dependencies have exact versions, not ranges', async (t) => {
  for (const folder of folders) {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')) as Record<
      string,
      Record<string, string>
    >
    const ranges = Object.entries({ ...dependencies, ...devDependencies }).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
    t.strictSame(ranges, [])
  }
})

void t.test('workflows name actions by commit, and package installations run no scripts', async (t) => {
  const files = [...readdirSync(path.join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`), 'action.yml']
  const lines = files.flatMap((file) => readFileSync(path.join(root, file), 'utf8').split('\n'))
  const actions = lines.flatMap((line) => /uses: (\S+)/.exec(line)?.[1] ?? [])
  t.ok(actions.length >= 6, actions.join(' '))
  t.strictSame(
    actions.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(action)),
    [],
  )
  const installs = lines.filter((line) => /npm (?:ci|install)\b/.test(line))
  t.equal(installs.length, 1)
  t.match(installs[0], /^\s+npm install --global --ignore-scripts /)
})

void t.test('a release publishes the provenance of its images and files', async (t) => {
  const { jobs, permissions } = parse(readFileSync(path.join(root, '.github/workflows/release.yml'), 'utf8')) as {
    jobs: { release: { steps: { uses?: string; with?: Record<string, string> }[] } }
    permissions: Record<string, string>
  }
  t.strictSame([permissions['id-token'], permissions['attestations']], ['write', 'write'])
  const attested = jobs.release.steps.filter(({ uses }) => uses?.startsWith('actions/attest-build-provenance@') === true)
  const subjects = attested.map(({ with: inputs }) => inputs?.['subject-name'] ?? inputs?.['subject-checksums'])
  t.strictSame(subjects, [
    ...['controller', 'agent', 'cli'].map((image) => `\${{ steps.publish.outputs.repository }}/${image}`),
    'build/release/sha256sums.txt',
  ])
})

for (const program of ['controller', 'agent'] as const) {
  void t.test(`Node of this release knows every flag with which the image of the ${program} starts it`, async (t) => {
    const flags = imageFlags(program)
    t.ok(flags.length > 3, flags.join(' '))
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, '-e', 'process.stdout.write("runs")'], { encoding: 'utf8' })
    t.strictSame([status, stdout], [0, 'runs'], stderr)
  })
}

void t.test('a release requires a base image with its digest, other builds do not', async (t) => {
  const dockerfile = readFileSync(path.join(root, 'Dockerfile'), 'utf8')
  const [, check = ''] = /^RUN (case "\$RELEASE:\$BASE".*)$/m.exec(dockerfile) ?? []
  t.not(check, '')
  const [, base = ''] = /^ARG BASE=(.*)$/m.exec(dockerfile) ?? []
  const codeFor = (RELEASE: string, BASE: string) => spawnSync('sh', ['-c', check], { env: { RELEASE, BASE } }).status
  t.equal(codeFor('false', base), 0)
  t.equal(codeFor('true', `${base}@sha256:${'0'.repeat(64)}`), 0)
  t.equal(codeFor('true', 'node:26-trixie-slim'), 1)
  t.equal(codeFor('yes', base), 1)
})
