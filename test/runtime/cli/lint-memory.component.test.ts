/**
 * The command line stays within 96 MiB over 10,000 resources.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { config, modeJson, resource, root } from '../../support/collection-tree.ts'
import { bundleCommand } from '../../support/measured-process.ts'
import { temporaryFolder } from '../../support/repository.ts'

const count = 10_000
const budgetMiB = 96
/** Writes the high-water mark of the process, in KiB, when it ends; that of getrusage would begin with the process that started it. */
const tellPeak = `import { readFileSync } from 'node:fs'
const peak = () => /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]
process.on('exit', () => process.stderr.write('peak ' + peak()))
`

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
}

void t.test('lint of 10,000 resources', async (t) => {
  const folder = temporaryFolder(t, 'lint-memory')
  const program = await bundleCommand(folder)
  const tree = path.join(folder, 'tree')
  const teller = path.join(folder, 'tell-peak.mjs')
  writeFileSync(teller, tellPeak)
  writeFiles(tree, {
    [`${root}/core/config-mode.json`]: modeJson('Core', 'external'),
    [`${root}/dev/config-mode.json`]: modeJson('Development', 'core'),
  })
  for (let index = 0; index < count; index += 1) {
    const [collection, name] = index % 10 === 9 ? ['dev', index - 1] : ['core', index]
    writeFiles(tree, resource(`${collection}/ignition/schedule/schedule ${name}`, config({ index, text: 'x'.repeat(400) })))
  }
  // Without what the test runner puts into processes below it.
  const env = { PATH: process.env['PATH'] }
  const peaks = [1, 2, 3].map(() => {
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', teller, program, 'lint', tree], { encoding: 'utf8', env })
    t.equal(status, 0, stderr)
    t.match(stdout, `0 errors, 0 warnings in ${count} resources`)
    return Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024
  })
  // When the collector comes by is chance, by some MiB.
  const peakMiB = Math.min(...peaks)
  t.ok(peakMiB < budgetMiB, `${Math.round(peakMiB)} MiB of ${budgetMiB}`)
})
