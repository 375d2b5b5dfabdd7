/**
 * What is installed is what was locked, byte for byte.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

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
