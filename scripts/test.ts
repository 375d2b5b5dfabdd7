/**
 * `npm test`: types, then every test that takes seconds and needs no API server and no images. `npm run test:all`: these, the slow ones,
 * then the tests of the folders in `layers`, then each suite alone; it first lists what is missing on this machine, or installs and builds
 * it with `--prepare`. Arguments are files or folders to run instead. The last line is `N passed, N failed` with the numbers of the test
 * runner, and `, N skipped` if there are any. With CI=true a skipped test counts as failed, unless it needs data that is not part of the
 * project.
 */
import { spawn, spawnSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { controlPlanePrograms, findProgram, nodePrograms, type Program } from '../test/cluster/binaries.ts'
import { checkTypes } from './gates.ts'

/** Each takes minutes and both processors: tests beside one would wait for it, and it for them. */
const suites = ['test/fresh-machine/fresh-machine.suite.ts', 'test/e2e/on-a-node.suite.ts']
const suiteTimeoutSeconds = 2_400
/**
 * The whole run has 90 minutes, and a layer takes up to 20. On a slow machine no further one begins, and the results of the others still
 * count.
 */
const latestLayerMs = 65 * 60_000
/** The longest suite takes up to 20 minutes. */
const latestSecondRunMs = 68 * 60_000
const maxSecondRuns = 3

/** Need minutes, and programs of Kubernetes. */
const layers: Readonly<Record<string, readonly Program[]>> = {
  'test/integration': controlPlanePrograms,
  'test/e2e': controlPlanePrograms,
  'test/images': [],
}

/** A test that is skipped for one of these reasons does not fail the run: the data is not part of the project. */
const ofOthersData = /the data file shared\/\S+ is not beside the project|the history of this clone lacks/

/** Whole flows through processes, large data and long properties: half of the time of all tests outside the layers. */
const isSlow = (file: string): boolean => file.endsWith('.slow.test.ts')
const testTimeoutSeconds = 900

/** Of one file or process. `failures` are lines to read: file, test and the first lines of its diagnosis. */
type Counts = { passed: number; failed: number; skipped: number; failures: string[] }
/** `code` is that of the test runner. */
type Run = { byFile: Map<string, Counts>; failedFiles: string[]; code: number }
const maxLinesPerFailure = 40

const flags = new Set(process.argv.slice(2).filter((argument) => argument.startsWith('--')))
const isGate = process.env['CI'] === 'true'
const isAll = flags.has('--all')
const named = process.argv
  .slice(2)
  .filter((name) => !flags.has(name))
  .map((name) => path.normalize(name).replace(/\/$/, ''))
const only = named
  .filter((name) => !suites.includes(name))
  .flatMap((name) => (statSync(name, { throwIfNoEntry: false })?.isDirectory() ? testsIn(name) : [name]))

if (flags.has('--prepare')) prepare()
// .ci/run has checked them, and names what failed before.
const failedTypes = named.length === 0 && !isGate && (await checkTypes()) > 0 ? ['types'] : []
const failedBefore = [...(process.env['CLUSTER_SYNC_FAILED_BEFORE'] ?? '').split(',').filter(Boolean), ...failedTypes]
const runs: Run[] = []
const secondRuns: string[] = []
if (only.length > 0) runs.push(await tapWithSecondRun(only))
if (named.length === 0) {
  if (isAll) sayWhatIsMissing()
  const outside = testsIn('test').filter((file) => !Object.keys(layers).some((folder) => file.startsWith(`${folder}/`)))
  runs.push(await tapWithSecondRun(isAll ? outside : outside.filter((file) => !isSlow(file))))
}
if (named.length === 0 && isAll) for (const [folder, programs] of Object.entries(layers)) runs.push(await runLayer(folder, programs))
for (const suite of suites) {
  const isNamed = named.some((name) => name === suite || suite.startsWith(`${name}/`))
  const isDue = named.length === 0 && isAll
  if (isDue && isGateLate(latestLayerMs)) runs.push(skipped(suite, 'there is no time left', 0))
  else if (isNamed || isDue) runs.push(await tapWithSecondRun([suite], suiteTimeoutSeconds))
}
const counts = runs.flatMap(({ byFile }) => [...byFile.values()])
const sum = (key: 'passed' | 'failed' | 'skipped'): number => counts.reduce((total, of) => total + of[key], 0)
const [passed, failed, skips] = [sum('passed'), sum('failed'), sum('skipped')]
const isRunWhole = runs.every(({ code }) => code === 0)
const failures = failed + failedBefore.length
for (const line of [...secondRuns, ...counts.flatMap((of) => of.failures)]) process.stdout.write(`${line}\n`)
for (const name of failedBefore) process.stdout.write(`FAILED before the tests: ${name}\n`)
process.stdout.write(`${passed} passed, ${failures} failed${skips === 0 ? '' : `, ${skips} skipped`}\n`)
process.exitCode = failures === 0 && isRunWhole && passed + skips > 0 ? 0 : 1

/** .ci/run passes its start time in seconds. */
function isGateLate(latestMs: number): boolean {
  return Date.now() - Number(process.env['CLUSTER_SYNC_GATE_STARTED'] ?? Infinity) * 1000 > latestMs
}

function testsIn(folder: string): string[] {
  return globSync(`${folder}/**/*.test.ts`).toSorted()
}

function prepare(): void {
  for (const [command, ...args] of [
    ['bash', 'scripts/system-packages.sh'],
    ['node', 'test/cluster/build.ts'],
  ] as const) {
    const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
    if (status !== 0) throw new Error(`${[command, ...args].join(' ')} failed`, { cause: error })
  }
}

function missingOf(programs: readonly Program[]): string[] {
  return programs.filter((name) => findProgram(name) === undefined)
}

function sayWhatIsMissing(): void {
  const packages = spawnSync('bash', ['scripts/system-packages.sh', '--missing'], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
  const programs = missingOf(nodePrograms)
  for (const [names, what] of [
    [packages, 'installs these packages with scripts/system-packages.sh'],
    [programs, 'builds these programs of Kubernetes with test/cluster/build.ts; they need Go'],
  ] as const)
    if (names.length > 0) process.stdout.write(`missing, so tests are skipped: ${names.join(', ')} (--prepare ${what})\n`)
}

/** Runs the tests of a folder, unless its programs are missing or the run has no time left for them. */
async function runLayer(folder: string, programs: readonly Program[]): Promise<Run> {
  const missing = missingOf(programs)
  if (missing.length > 0) return skipped(folder, `${missing.join(', ')} not built`, isGate ? 1 : 0)
  if (isGateLate(latestLayerMs)) return skipped(folder, 'there is no time left', 0)
  return await tapWithSecondRun(testsIn(folder))
}

/**
 * In the gate, a few failed files run once more: tests with real clusters and networks fail now and then on a machine that is short of
 * time. Files that pass only then are listed at the end, with the failure of their first run. Unit tests, which share processes, have no
 * second run.
 */
async function tapWithSecondRun(files: readonly string[], timeoutSeconds?: number): Promise<Run> {
  const first = await tap(files, timeoutSeconds)
  const failed = first.failedFiles
  const mayFailByChance = failed.length > 0 && failed.length <= maxSecondRuns && failed.every((name) => files.includes(name))
  if (!isGate || !mayFailByChance || isGateLate(latestSecondRunMs)) return first
  process.stdout.write(`second run: ${failed.join(', ')}\n`)
  const second = await tap(failed, timeoutSeconds)
  for (const file of failed.filter((name) => !second.failedFiles.includes(name)))
    secondRuns.push(`${file} passed in its second run only; its first run:`, ...(first.byFile.get(file)?.failures ?? []))
  return { ...second, byFile: new Map([...first.byFile, ...second.byFile]) }
}

function skipped(what: string, why: string, failed: 0 | 1): Run {
  process.stdout.write(`SKIPPED ${what}: ${why}\n`)
  const failures = failed === 1 ? [`FAILED ${what}: ${why}`] : []
  return { byFile: new Map([[what, { passed: 0, failed, skipped: 1 - failed, failures }]]), failedFiles: [], code: 0 }
}

/** Runs test files and counts the tests themselves: lines of the second level, below each file. */
function tap(files: readonly string[], timeoutSeconds = testTimeoutSeconds): Promise<Run> {
  return new Promise((resolve, reject) => {
    // One control plane serves all test files of this run.
    const env = { ...process.env, CLUSTER_SYNC_TEST_RUN: String(process.pid) }
    const args = ['scripts/run-tests.ts', String(timeoutSeconds), ...files]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env })
    let file = ''
    const byFile = new Map<string, Counts>()
    const failedFiles: string[] = []
    const ofFile = (): Counts => {
      const known = byFile.get(file) ?? { passed: 0, failed: 0, skipped: 0, failures: [] }
      byFile.set(file, known)
      return known
    }
    let linesLeft = 0
    const print = (line: string): void => {
      process.stdout.write(`${line}\n`)
      if (linesLeft > 0) ofFile().failures.push(line)
      linesLeft -= 1
    }
    createInterface({ input: child.stdout }).on('line', (line) => {
      const test = /^ {4}(not )?ok \d+ - (.*)$/.exec(line)
      const whole = /^(not )?ok \d+ - (.*)$/.exec(line)
      const skip = / # SKIP (.*)$/.exec(line)
      file = /^# Subtest: (.*)$/.exec(line)?.[1] ?? file
      if (skip !== null) {
        const isFailure = isGate && !ofOthersData.test(skip[1] ?? '')
        ofFile()[isFailure ? 'failed' : 'skipped'] += 1
        const skipped = `SKIPPED ${file}: ${line.trim()}`
        process.stdout.write(`${skipped}\n`)
        if (isFailure) ofFile().failures.push(skipped)
      } else if (test !== null) ofFile()[test[1] === undefined ? 'passed' : 'failed'] += 1
      if (whole?.[1] !== undefined) failedFiles.push(file)
      const isPassed = test === null ? whole !== null && whole[1] === undefined : test[1] === undefined
      if (isPassed) linesLeft = 0
      else if (linesLeft <= 0 && /^ *not ok/.test(line)) {
        ofFile().failures.push(`FAILED in ${file}`)
        linesLeft = maxLinesPerFailure
      }
      if (whole !== null || /not ok/.test(line) || failing(line)) print(line)
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ byFile, failedFiles, code: code ?? 1 }))
  })
}

/** Whether a line belongs to the diagnosis below a failed assertion. */
function failing(line: string): boolean {
  return /^ {4,}(-{3}|\.{3}$|diff|compare|at:|fileName|lineNumber|found|wanted|stack|\+|-|@@| {2}[+@-])/.test(line)
}
