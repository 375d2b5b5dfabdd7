/**
 * What is installed is what was locked, byte for byte.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { imageFlags } from './support/image-flags.ts'

const root = path.resolve(import.meta.dirname, '..')

type Locked = { version?: string; integrity?: string; link?: boolean; inBundle?: boolean }

function lockfile(): Record<string, Locked> {
  return (JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }).packages
}

void t.test('every package of the lockfile has the digest of its contents', async (t) => {
  // What a package brings inside itself is covered by the digest of that package.
  const packages = Object.entries(lockfile()).filter(([name, { link, inBundle }]) => name !== '' && link !== true && inBundle !== true)
  t.ok(packages.length > 100, `${packages.length} packages`)
  t.same(
    packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')).map(([name]) => name),
    [],
  )
})

void t.test('packages are named with one exact version, not a range', async (t) => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const ranges = Object.entries({ ...dependencies, ...devDependencies }).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
  t.same(ranges, [])
})

for (const program of ['controller', 'agent'] as const) {
  void t.test(`Node of this release knows every flag with which the image of the ${program} starts it`, async (t) => {
    const flags = imageFlags(program)
    t.ok(flags.length > 3, flags.join(' '))
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, '-e', 'process.stdout.write("runs")'], { encoding: 'utf8' })
    t.same([status, stdout], [0, 'runs'], stderr)
  })
}

void t.test('a release is built on a base image with its digest, and only a release needs one', async (t) => {
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
