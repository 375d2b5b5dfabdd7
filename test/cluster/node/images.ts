/**
 * Builds an image of one static program as an archive that `ctr images import` takes. No image builder is needed.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Program } from '../binaries.ts'
import { imageRepository, imageTag } from './configuration.ts'
import { tarOf } from '../../../scripts/tar.ts'

/** The user of the image as a number, which pods with runAsNonRoot need. */
const user = '65532:65532'

/** The image of one of the node's own programs. */
export function imageNameOf(name: Program): string {
  return `${imageRepository}/${name}:${imageTag}`
}

/** Writes the archive `file` of the image `name`, with its only program as the entrypoint. */
export function archiveOfProgram(file: string, name: string, program: string): void {
  const entry = path.basename(program)
  const layer = tarOf([{ path: entry, content: readFileSync(program), isProgram: true }])
  const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
  const config = Buffer.from(
    JSON.stringify({
      architecture: { x64: 'amd64', arm64: 'arm64' }[process.arch as 'x64' | 'arm64'],
      os: 'linux',
      config: { Entrypoint: [`/${entry}`], User: user },
      rootfs: { type: 'layers', diff_ids: [`sha256:${digest(layer)}`] },
    }),
  )
  const configName = `${digest(config)}.json`
  const manifest = JSON.stringify([{ Config: configName, RepoTags: [name], Layers: ['layer.tar'] }])
  writeFileSync(
    file,
    tarOf([
      { path: 'manifest.json', content: manifest },
      { path: configName, content: config },
      { path: 'layer.tar', content: layer },
    ]),
  )
}
