/**
 * A base image from the programs of this machine, for tests of the images: no registry is needed, and the images find their programs.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { temporaryFolder } from './repository.ts'
import { requires } from './requires.ts'

/**
 * The programs of a distribution's Node image and those that the project's images add. `prlimit`: for the controller of the previous
 * release, from which upgrades start.
 */
const programs = ['sh', 'ls', 'cat', 'env', 'mkdir', 'mkfifo', 'git', 'gpgv', 'ssh', 'ssh-add', 'ssh-agent', 'ssh-keygen', 'prlimit']

/** The name of the base in a builder's storage. */
export const localBase = 'localhost/programs-of-this-machine:1'

export type LocalBuilder = { folder: string; base: string; env: NodeJS.ProcessEnv }

/** The environment of a builder with a base; undefined if this machine cannot build images, and the test has then been skipped. */
export function localBuilder(t: Test): LocalBuilder | undefined {
  if (!requires(t, 'buildah', 'git', 'gpgv', 'ssh', 'ssh-agent', 'ssh-keygen')) return undefined
  const folder = temporaryFolder(t, 'images')
  const env = buildahEnvironment(folder)
  const why = whyNoImages(folder, env)
  if (why !== undefined) {
    t.plan(0, why)
    return undefined
  }
  makeLocalBase(folder, localBase, process.execPath, env)
  return { folder, base: localBase, env }
}

/** The environment of buildah in tests: its own storage below `folder`, and no privileges for its own container. */
export function buildahEnvironment(folder: string): NodeJS.ProcessEnv {
  const storage = path.join(folder, 'storage.conf')
  mkdirSync(folder, { recursive: true })
  const quoted = (name: string) => JSON.stringify(path.join(folder, name))
  writeFileSync(storage, `[storage]\ndriver = "overlay"\ngraphroot = ${quoted('storage')}\nrunroot = ${quoted('run')}\n`)
  return { ...process.env, CONTAINERS_STORAGE_CONF: storage, BUILDAH_ISOLATION: 'chroot' }
}

/**
 * The reason why images cannot be built on this machine, such as missing permissions; undefined if an image of a single program can be
 * built and run.
 */
export function whyNoImages(folder: string, env: NodeJS.ProcessEnv): string | undefined {
  const buildah = (...words: string[]) => spawnSync('buildah', words, { env, encoding: 'utf8' })
  const tree = path.join(folder, 'probe')
  copyProgram(tree, execFileSync('sh', ['-c', 'command -v env'], { encoding: 'utf8' }).trim(), '/usr/bin/env')
  for (const link of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${link}`, path.join(tree, link))
  const made = buildah('from', 'scratch')
  if (made.status === 0) buildah('copy', '--quiet', made.stdout.trim(), tree, '/')
  const ran = made.status === 0 ? buildah('run', made.stdout.trim(), '--', '/usr/bin/env') : made
  return ran.status === 0 ? undefined : `buildah does not work here: ${ran.error?.message ?? ran.stderr.trim()}`
}

/**
 * Builds the image `name` from the programs of this machine, with `node` as its Node. `authorities`: certificates that it trusts in
 * addition to those of this machine, PEM.
 */
export function makeLocalBase(
  folder: string,
  name: string,
  node: string,
  env: NodeJS.ProcessEnv,
  { authorities = '' }: { authorities?: string } = {},
): void {
  const tree = path.join(folder, 'base')
  const shell = (command: string) => execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim()
  for (const program of programs) copyProgram(tree, shell(`command -v ${program}`), `/usr/bin/${program}`)
  copyProgram(tree, node, '/usr/bin/node')
  for (const helper of ['git-remote-https', 'git-remote-http']) copyProgram(tree, `/usr/lib/git-core/${helper}`)
  copyInto(tree, shell('ls /usr/lib/*/libnss_wrapper.so'))
  for (const link of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${link}`, path.join(tree, link))
  mkdirSync(path.join(tree, 'etc/ssl/certs'), { recursive: true })
  const trusted = readFileSync('/etc/ssl/certs/ca-certificates.crt', 'utf8')
  writeFileSync(path.join(tree, 'etc/ssl/certs/ca-certificates.crt'), trusted + authorities)
  for (const made of ['tmp', 'proc', 'sys', 'dev', 'usr/local/bin', 'var/lib']) mkdirSync(path.join(tree, made), { recursive: true })
  // As in the images of distributions.
  chmodSync(path.join(tree, 'tmp'), 0o1777)
  const buildah = (...words: string[]) =>
    execFileSync('buildah', words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  const container = buildah('from', 'scratch')
  buildah('copy', '--quiet', container, tree, '/')
  buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin', container)
  buildah('commit', '--quiet', '--rm', container, name)
}

/** A program with the libraries that the loader finds for it. */
function copyProgram(tree: string, program: string, as = program): void {
  copyInto(tree, program, as)
  const libraries = execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)
  for (const [, library = ''] of libraries) copyInto(tree, library)
}

/** Files of /lib are copied below /usr if both are one folder. */
function copyInto(tree: string, file: string, as = file): void {
  const target = path.join(tree, as.replace(/^\/lib/, '/usr/lib'))
  mkdirSync(path.dirname(target), { recursive: true })
  copyFileSync(file, target)
}
