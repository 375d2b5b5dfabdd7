/**
 * The program that builds the images: docker if its daemon answers, otherwise podman, otherwise buildah. Each gets the same options: files
 * and layers have one given time, and no cache is used.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

export const builders = ['docker', 'podman', 'buildah'] as const
export type Builder = (typeof builders)[number]

export type ImageBuild = {
  target: string
  name: string
  dockerfile: string
  context: string
  base: string | undefined
  release: boolean
  /** Such as `linux/arm64`; undefined: that of this machine. */
  platform: string | undefined
  /** Seconds since 1970 that every file and layer bears. */
  timestamp: number
}

/** Undefined if none of them works. */
export function findBuilder(): Builder | undefined {
  return builders.find((builder) => spawnSync(builder, builder === 'buildah' ? ['--version'] : ['info'], { stdio: 'ignore' }).status === 0)
}

/** The arguments with which a builder makes one image under its name. */
export function buildArguments(builder: Builder, image: ImageBuild): string[] {
  const { target, name, dockerfile, context, base, release, platform, timestamp } = image
  const reproducible =
    builder === 'docker'
      ? ['--provenance=false', '--output', `type=docker,name=${name},rewrite-timestamp=true`]
      : ['--timestamp', String(timestamp), '--tag', name]
  return [
    ...(builder === 'docker' ? ['buildx', 'build'] : ['build']),
    '--no-cache',
    '--target',
    target,
    '--file',
    dockerfile,
    ...(base === undefined ? [] : ['--build-arg', `BASE=${base}`]),
    ...(release ? ['--build-arg', 'RELEASE=true'] : []),
    ...(builder === 'docker' ? ['--build-arg', `SOURCE_DATE_EPOCH=${timestamp}`] : []),
    ...(platform === undefined ? [] : ['--platform', platform]),
    ...reproducible,
    context,
  ]
}

/** The arguments that write an image as an archive which `docker load` and `ctr images import` take. */
export function saveArguments(builder: Builder, name: string, file: string): string[] {
  if (builder === 'docker') return ['save', '--output', file, name]
  return [...(builder === 'podman' ? ['push'] : ['push', '--quiet']), name, `docker-archive:${file}:${name}`]
}

/** Pushes an image to the registry in its name, with the credentials of the builder's own login. Returns its digest (`sha256:…`) there. */
export function pushImage(builder: Builder, name: string): string {
  const push = (...words: string[]): void => void execFileSync(builder, ['push', ...words], { stdio: ['ignore', 'inherit', 'inherit'] })
  if (builder === 'docker') {
    push(name)
    const repository = name.slice(0, name.lastIndexOf(':'))
    const format = '{{range .RepoDigests}}{{println .}}{{end}}'
    const digests = execFileSync('docker', ['image', 'inspect', '--format', format, name], { encoding: 'utf8' }).split('\n')
    const [, digest] = digests.map((line) => line.trim().split('@')).find(([pushedTo]) => pushedTo === repository) ?? []
    if (digest === undefined) throw new Error(`docker reports no digest of ${name} after the push`)
    return digest
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'cluster-sync-push-'))
  try {
    push('--digestfile', path.join(folder, 'digest'), name)
    return readFileSync(path.join(folder, 'digest'), 'utf8').trim()
  } finally {
    rmSync(folder, { recursive: true })
  }
}
