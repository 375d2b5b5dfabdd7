/**
 * `npm test`: every gate in turn, then every test, and last one line `N passed, N failed` with the numbers of the test runner, and
 * `, N skipped` where there are some.
 * Arguments are files or folders to run instead of all; the gates then stand aside.
 */
import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { runGates } from './gates.ts'

const only = process.argv.slice(2).map((name) => (statSync(name, { throwIfNoEntry: false })?.isDirectory() ? `${name}/**/*.test.ts` : name))

const failedGates = only.length === 0 ? await runGates() : 0
const { passed, failed, skipped, code } = await tap(only)
const failures = failed + failedGates
process.stdout.write(`${passed} passed, ${failures} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`)
process.exitCode = failures === 0 && code === 0 && passed > 0 ? 0 : 1

/** Runs tap and counts the tests themselves: lines of the second level, below each file. */
function tap(files: string[]): Promise<{ passed: number; failed: number; skipped: number; code: number }> {
  return new Promise((resolve, reject) => {
    // One control plane serves all test files of this run.
    const env = { ...process.env, CLUSTER_SYNC_TEST_RUN: String(process.pid) }
    const child = spawn('tap', ['--reporter=tap', ...files], { stdio: ['ignore', 'pipe', 'inherit'], env })
    let passed = 0
    let failed = 0
    let skips = 0
    let file = ''
    createInterface({ input: child.stdout }).on('line', (line) => {
      const test = /^ {4}(not )?ok \d+ - (.*)$/.exec(line)
      const whole = /^(not )?ok \d+ - (.*)$/.exec(line)
      const skipped = / # SKIP (.*)$/.exec(line)
      file = /^# Subtest: (.*)$/.exec(line)?.[1] ?? file
      if (skipped !== null) {
        skips += 1
        process.stdout.write(`SKIPPED ${file}: ${line.trim()}\n`)
      } else if (test !== null && test[1] === undefined) passed += 1
      else if (test !== null) failed += 1
      if (whole !== null) process.stdout.write(`${line}\n`)
      else if (/not ok/.test(line) || failing(line)) process.stdout.write(`${line}\n`)
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ passed, failed, skipped: skips, code: code ?? 1 }))
  })
}

/** Whether a line belongs to the diagnosis below a failed assertion. */
function failing(line: string): boolean {
  return /^ {4,}(-{3}|\.{3}$|diff|compare|at:|fileName|lineNumber|found|wanted|stack|\+|-|@@| {2}[+@-])/.test(line)
}
