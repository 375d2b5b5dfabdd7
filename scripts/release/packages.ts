/**
 * The files of a release that name its images (chart, manifests and the package of constructs), the package of the command line, and the
 * documentation.
 */
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { version } from '../../runtime/platform/version.ts'
import type { Image } from './images.ts'
import { root, run } from './run.ts'

/** What the chart, the manifests and the constructs are made from. */
const sources = ['examples', 'imports', 'infra', 'runtime', 'scripts', 'LICENSE', 'package.json']

/** `source`: where the files of the repository can be read. */
export function makePackages({ folder, images, source }: { folder: string; images: readonly Image[]; source: string }): void {
  const work = mkdtempSync(path.join(tmpdir(), 'cluster-sync-release-'))
  const node = (cwd: string, script: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): void =>
    run(process.execPath, [path.join(cwd, script), ...words], { cwd, env })
  try {
    const copy = path.join(work, 'sources')
    copySources(copy, images)
    node(copy, 'infra/main.ts', [], { CDK8S_OUTDIR: folder, CLUSTER_SYNC_VALUES: '' })
    node(copy, 'scripts/chart.ts', [work])
    cpSync(path.join(work, chartFile), path.join(folder, chartFile))
    node(copy, 'scripts/package/main.ts', [folder])
    node(root, 'scripts/package/cli/main.ts', [folder])
    node(root, 'scripts/docs.ts', [path.join(work, 'docs'), '--source', source])
    const steady = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']
    run('tar', [...steady, '-czf', path.join(folder, `cluster-sync-operator-docs-${version}.tgz`), '-C', work, 'docs'])
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

export const chartFile = `cluster-sync-operator-${version}.tgz`

/** A copy of the sources whose default images are those of the release. */
function copySources(copy: string, images: readonly Image[]): void {
  for (const source of sources) cpSync(path.join(root, source), path.join(copy, source), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  const defaults = images
    .filter(({ program }) => program !== 'cli')
    .map(({ program, repository, digest }) => [program, { repository, tag: `${version}@${digest}` }] as const)
  writeFileSync(path.join(copy, 'infra/default-images.json'), JSON.stringify(Object.fromEntries(defaults)))
}
