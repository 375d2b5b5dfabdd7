/**
 * `npm run package:cli [folder]`: packs the command line for machines without this checkout, as JavaScript for Node 22.18 and newer. Everything
 * that it imports is bundled, so installing it needs no registry. Prints the path of the tarball, which is
 * build/cluster-sync-operator-cli-<version>.tgz unless a folder is named.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { bundledPackages, licenseTexts } from '../../images/sbom.ts'
import { compileCli } from './compile.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const [target = path.join(root, 'build')] = process.argv.slice(2)

type Manifest = Record<'name' | 'version' | 'description' | 'license', string> & { engines: object }

const work = mkdtempSync(path.join(tmpdir(), 'cluster-sync-package-'))
try {
  const staged = path.join(work, 'package')
  const metafile = await compileCli(path.join(staged, 'program'))
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest
  const packed = packageJson(manifest)
  writeFileSync(path.join(staged, 'package.json'), `${JSON.stringify(packed, undefined, 2)}\n`)
  for (const [to, from] of Object.entries({ LICENSE: 'LICENSE', 'README.md': 'scripts/package/cli/README.md' }))
    cpSync(path.join(root, from), path.join(staged, to))
  writeFileSync(path.join(staged, 'third-party-licenses.txt'), licenseTexts(root, bundledPackages(root, [metafile])))
  const { status } = spawnSync('npm', ['pack', '--silent', '--pack-destination', work], { cwd: staged, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`npm pack ended with ${status}`)
  mkdirSync(target, { recursive: true })
  const tarball = path.join(target, `${packed.name}-${packed.version}.tgz`)
  cpSync(path.join(work, path.basename(tarball)), tarball)
  process.stdout.write(`${tarball}\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

function packageJson({ name, version, description, license, engines }: Manifest) {
  return {
    name: `${name}-cli`,
    version,
    description: `${description} The command line.`,
    license,
    type: 'module',
    engines,
    os: ['linux', 'darwin'],
    bin: { 'cluster-sync': 'program/cluster-sync.mjs' },
    files: ['program', 'third-party-licenses.txt'],
  }
}
