/**
 * `npm test`: every gate in turn, then every test, and last one line `N passed, N failed` with the numbers of the test runner.
 * Arguments are files to run instead of all; the gates then stand aside.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const only = process.argv.slice(2)

const gates: [string, string[]][] = [
  ['tsc', ['-p', '.']],
  ['oxlint', []],
  ['prettier', ['--check', '--log-level=warn', '.']],
  ['node', ['scripts/generate/main.ts', '--check']],
]

let failedGates = 0
if (only.length === 0) {
  for (const [command, args] of gates) if ((await inherit(command, args)) !== 0) failedGates += 1
}
const { passed, failed, code } = await tap(only)
const failures = failed + failedGates
process.stdout.write(`${passed} passed, ${failures} failed\n`)
process.exitCode = failures === 0 && code === 0 && passed > 0 ? 0 : 1

function inherit(command: string, args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit' })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code !== 0) process.stdout.write(`failed: ${command} ${args.join(' ')}\n`)
      resolve(code ?? 1)
    })
  })
}

/** Runs tap and counts the tests themselves: lines of the second level, below each file. */
function tap(files: string[]): Promise<{ passed: number; failed: number; code: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn('tap', ['--reporter=tap', ...files], { stdio: ['ignore', 'pipe', 'inherit'] })
    let passed = 0
    let failed = 0
    let file = ''
    createInterface({ input: child.stdout }).on('line', (line) => {
      const test = /^ {4}(not )?ok \d+ - (.*)$/.exec(line)
      const whole = /^(not )?ok \d+ - (.*)$/.exec(line)
      const skipped = / # SKIP (.*)$/.exec(line)
      file = /^# Subtest: (.*)$/.exec(line)?.[1] ?? file
      if (skipped !== null) process.stdout.write(`SKIPPED ${file}: ${line.trim()}\n`)
      else if (test !== null && test[1] === undefined) passed += 1
      else if (test !== null) failed += 1
      if (whole !== null) process.stdout.write(`${line}\n`)
      else if (/not ok/.test(line) || failing(line)) process.stdout.write(`${line}\n`)
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ passed, failed, code: code ?? 1 }))
  })
}

/** Whether a line belongs to the diagnosis below a failed assertion. */
function failing(line: string): boolean {
  return /^ {4,}(-{3}|\.{3}$|diff|compare|at:|fileName|lineNumber|found|wanted|stack|\+|-|@@| {2}[+@-])/.test(line)
}
