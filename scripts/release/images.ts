/**
 * The images of a release: one OCI archive for each, with an index of its platforms.
 */
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { version } from '../../runtime/platform/version.ts'
import { outputOf, root, run } from './run.ts'

export const programs = ['controller', 'agent', 'cli'] as const
export type Program = (typeof programs)[number]

export type Image = { program: Program; repository: string; file: string; digest: string }

export type Build = {
  folder: string
  /** The images are <repository>/controller, <repository>/agent and <repository>/cli. */
  repository: string
  base: string
  platforms: readonly string[]
  /** Refuses a base without a digest. */
  isRelease: boolean
}

/** The images that a folder holds. */
export function imagesIn(folder: string, repository: string): Image[] {
  return programs.map((program) => {
    const file = path.join(folder, archiveOf(program))
    const { manifests } = JSON.parse(outputOf('tar', ['-xOf', file, 'index.json'])) as { manifests: { digest: string }[] }
    return { program, repository: `${repository}/${program}`, file, digest: manifests[0]?.digest ?? '' }
  })
}

/** Builds all images with buildah, which other builders cannot push unchanged from an archive. */
export function buildImages({ folder, repository, base, platforms, isRelease }: Build): Image[] {
  for (const platform of platforms) {
    const words = ['--builder', 'buildah', '--base', base, '--platform', platform, ...(isRelease ? ['--release'] : [])]
    const named = ['--repository', repository, '--tag', tagOf(platform), '--sbom', folder]
    run(process.execPath, [path.join(root, 'scripts/images/main.ts'), ...words, ...named])
  }
  for (const program of programs) {
    renameSync(path.join(folder, `${program}.spdx.json`), path.join(folder, `cluster-sync-operator-${program}-${version}.spdx.json`))
    const list = createList(program)
    for (const platform of platforms)
      run('buildah', ['manifest', 'add', list, `containers-storage:${repository}/${program}:${tagOf(platform)}`])
    pushList(list, `oci-archive:${path.join(folder, archiveOf(program))}:${version}`)
  }
  return imagesIn(folder, repository)
}

/** Pushes the images of an archive unchanged. Throws if the registry then has another digest. */
export function pushImage({ program, repository, file, digest }: Image, options: readonly string[]): void {
  const list = createList(program)
  run('buildah', ['manifest', 'add', '--all', list, `oci-archive:${file}:${version}`])
  const pushed = pushList(list, `docker://${repository}:${version}`, options)
  if (pushed !== digest) throw new Error(`${repository}:${version} has the digest ${pushed}, and ${file} has ${digest}`)
}

function createList(program: Program): string {
  const list = `localhost/cluster-sync-release-${process.pid}/${program}`
  run('buildah', ['manifest', 'create', list])
  return list
}

/** Pushes and removes a list. Returns its digest. */
function pushList(list: string, place: string, options: readonly string[] = []): string {
  const work = mkdtempSync(path.join(tmpdir(), 'cluster-sync-push-'))
  const file = path.join(work, 'digest')
  try {
    run('buildah', ['manifest', 'push', '--all', '--rm', '--quiet', '--format', 'oci', '--digestfile', file, ...options, list, place])
    return readFileSync(file, 'utf8').trim()
  } finally {
    rmSync(work, { recursive: true })
  }
}

/** One platform at a time is built under each tag. */
function tagOf(platform: string): string {
  return `${version}-${platform.split('/').at(-1) ?? ''}`
}

function archiveOf(program: Program): string {
  return `cluster-sync-operator-${program}-${version}.oci.tar`
}
