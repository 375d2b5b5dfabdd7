/**
 * `npm test`: every gate in turn, then every test, then by itself the suite that runs on a node of Kubernetes, and last one line
 * `N passed, N failed` with the numbers of the test runner, and `, N skipped` where there are some.
 * Arguments are files or folders to run instead of all; the gates then stand aside.
 */
import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { runGates } from './gates.ts'

/** Takes minutes and both processors: tests beside it would wait for it, and it for them. */
const nodeSuite = 'test/e2e/on-a-node.suite.ts'
const nodeSuiteTimeoutSeconds = 2_400

const named = process.argv.slice(2).map((name) => path.normalize(name).replace(/\/$/, ''))
const only = named
  .filter((name) => name !== nodeSuite)
  .map((name) => (statSync(name, { throwIfNoEntry: false })?.isDirectory() ? `${name}/**/*.test.ts` : name))
const isWithNode = named.length === 0 || named.some((name) => name === nodeSuite || nodeSuite.startsWith(`${name}/`))

const failedGates = named.length === 0 ? await runGates() : 0
const runs = [
  ...(named.length === 0 || only.length > 0 ? [await tap(only)] : []),
  ...(isWithNode ? [await tap([`--timeout=${nodeSuiteTimeoutSeconds}`, nodeSuite])] : []),
]
const sum = (key: 'passed' | 'failed' | 'skipped'): number => runs.reduce((total, run) => total + run[key], 0)
const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]
const isRunWhole = runs.every(({ code }) => code === 0)
const failures = failed + failedGates
process.stdout.write(`${passed} passed, ${failures} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`)
process.exitCode = failures === 0 && isRunWhole && passed + skipped > 0 ? 0 : 1

/** Runs tap and counts the tests themselves: lines of the second level, below each file. */
function tap(args: readonly string[]): Promise<{ passed: number; failed: number; skipped: number; code: number }> {
  return new Promise((resolve, reject) => {
    // One control plane serves all test files of this run.
    const env = { ...process.env, CLUSTER_SYNC_TEST_RUN: String(process.pid) }
    const child = spawn('tap', ['--reporter=tap', ...args], { stdio: ['ignore', 'pipe', 'inherit'], env })
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
