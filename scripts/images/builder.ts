/**
 * The program that builds the images: docker if its daemon answers, otherwise podman, otherwise buildah. Each gets the same options: files
 * and layers have one given time, and no cache is used.
 */
import { spawnSync } from 'node:child_process'

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

/** Undefined where none of them works. */
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
