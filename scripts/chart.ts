/**
 * `npm run chart [folder]`: writes the packaged Helm chart, as a folder `chart` and as an archive, into dist/ or the folder that is named.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { chartFiles, writeChart } from '../infra/chart/files.ts'
import { chartName } from '../infra/names.ts'
import { version } from '../runtime/platform/version.ts'
import { tarOf } from './tar.ts'

const folder = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../dist'))
const chart = path.join(folder, 'chart')
const archive = path.join(folder, `${chartName}-${version}.tgz`)

writeChart(chart)
writeFileSync(archive, gzipSync(tarOf(chartFiles().map(({ path: name, content }) => ({ path: `${chartName}/${name}`, content })))))
for (const written of [chart, archive]) process.stdout.write(`wrote ${path.relative(process.cwd(), written)}\n`)
