/**
 * `npm run release:manifests -- <folder> <repository>`: the CRDs, the manifests of the default values and the packed chart of a release, with its
 * images in the repository that it pushes them to.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { chartFiles } from '../infra/chart/files.ts'
import { chartName } from '../infra/names.ts'
import { defaultRepositories } from '../infra/values.ts'
import { version } from '../runtime/platform/version.ts'
import { tarOf } from './tar.ts'

const [folder, repository] = process.argv.slice(2)
if (folder === undefined || repository === undefined) throw new Error('usage: npm run release:manifests -- <folder> <repository>')
mkdirSync(folder, { recursive: true })
/** `text` with <repository>/controller and <repository>/agent in the place of the default images. */
const imagesAt = (repository: string, text: string): string =>
  Object.entries(defaultRepositories).reduce(
    (changed, [name, place]) => changed.replaceAll(new RegExp(`(?<![\\w./-])${place}(?![\\w/-])`, 'g'), `${repository}/${name}`),
    text,
  )
const write = (name: string, content: string | Uint8Array): void => {
  const file = path.join(folder, name)
  writeFileSync(file, content)
  process.stdout.write(`wrote ${file}\n`)
}
for (const name of ['crds.k8s.yaml', 'operator.k8s.yaml'])
  write(name, imagesAt(repository, readFileSync(path.join(import.meta.dirname, '../dist', name), 'utf8')))
const files = chartFiles().map((file) => ({ path: `${chartName}/${file.path}`, content: imagesAt(repository, file.content) }))
write(`${chartName}-${version}.tgz`, gzipSync(tarOf(files)))
