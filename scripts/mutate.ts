/**
 * `npm run mutate -- <folder or file>`: changes the code in one place at a time and runs the tests of its folder, to find code that no test
 * checks. Without an argument it lists the folders. The first run installs Stryker into build/mutation, and reports are written there;
 * docs/development/mutation-testing.md has the measured scores.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

type Scope = {
  /** Globs of the pure files, if the folder has others. */
  files?: readonly string[]
  /** Globs of the tests. They run for each mutant, so random input that rarely finds one is left out where a table exists. */
  tests: readonly string[]
}

/** Folders of pure code. */
const scopes: Record<string, Scope> = {
  'runtime/receiver/payload': { tests: ['test/runtime/receiver/payload/{hosts,parts,payload,repository}.test.ts'] },
  'runtime/receiver/authenticate.ts': {
    tests: ['test/runtime/receiver/authenticate.test.ts'],
    files: ['runtime/receiver/authenticate.ts'],
  },
  'runtime/receiver/request': { tests: ['test/runtime/receiver/request/*.test.ts'] },
  'runtime/reconcile/decide': { tests: ['test/runtime/reconcile/decide/*.test.ts'] },
  'runtime/reconcile/rollout': { tests: ['test/runtime/reconcile/rollout/*.test.ts', 'test/runtime/reconcile/decide/rollout.test.ts'] },
  'runtime/sync/plan': {
    tests: ['test/runtime/sync/plan/*.test.ts', 'test/runtime/sync/behavior/{dry-run,folding,foreign-content,prune}.component.test.ts'],
  },
  'runtime/sync/apply': { files: ['runtime/sync/apply/journal.ts'], tests: ['test/runtime/sync/apply/journal.property.test.ts'] },
  'runtime/sync/render': { tests: ['test/runtime/sync/render/{json-spans,patch,render,template}.test.ts'] },
  'runtime/validation/rules': { tests: ['test/runtime/validation/rules/*.test.ts', 'test/runtime/validation/behavior/examples.test.ts'] },
  'runtime/git/verify': {
    files: ['runtime/git/verify/{armor,keyring,openpgp,signed-object,ssh-keys}.ts'],
    tests: ['test/runtime/git/verify/{armor,keyring.component,openpgp,signed-object,ssh-keys}.test.ts'],
  },
  'infra/values': { files: ['infra/values.ts', 'infra/values/*.ts'], tests: ['test/infra/values/*.test.ts'] },
}

const [requested = ''] = process.argv.slice(2).map((name) => name.replace(/\/$/, ''))
const [folder, scope] = Object.entries(scopes).find(([name]) => requested === name || requested.startsWith(`${name}/`)) ?? []
if (folder === undefined || scope === undefined) {
  process.stdout.write(`usage: npm run mutate -- <folder or file>, in one of:\n  ${Object.keys(scopes).join('\n  ')}\n`)
  process.exit(1)
}

const work = path.resolve('build/mutation')
const tool = path.join(work, 'tool')
install()
const reports = path.join(work, requested.replaceAll('/', '-'))
const settings = {
  testRunner: 'tap',
  plugins: ['@stryker-mutator/tap-runner', path.resolve('scripts/mutation/descriptions.ts')],
  ignorers: ['descriptions'],
  tap: { testFiles: scope.tests },
  mutate: requested === folder ? (scope.files ?? [`${folder}/**/*.ts`]) : [requested],
  coverageAnalysis: 'perTest',
  concurrency: Number(process.env['MUTATE_JOBS'] ?? 2),
  timeoutMS: 10_000,
  reporters: ['clear-text', 'progress-append-only', 'html', 'json'],
  clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false },
  htmlReporter: { fileName: `${reports}.html` },
  jsonReporter: { fileName: `${reports}.json` },
  tempDirName: path.join(work, 'sandbox'),
  // Stryker cannot read the TypeScript settings with TypeScript 7, and Node needs none.
  ignorePatterns: ['/build', '/.tap', '/tsconfig.json'],
  disableTypeChecks: false,
  thresholds: { high: 95, low: 85, break: 85 },
  allowConsoleColors: false,
}
// Node starts again for each mutant; the cache halves the CPU time.
process.env['NODE_COMPILE_CACHE'] = path.join(work, 'compiled')
const { Stryker } = (await import(path.join(tool, 'node_modules/@stryker-mutator/core/dist/src/index.js'))) as {
  Stryker: new (settings: object) => { runMutationTest(): Promise<unknown> }
}
await new Stryker(settings).runMutationTest()

/** Installs what the lockfile names, unless it is there. */
function install(): void {
  const from = path.resolve('scripts/mutation/package-lock.json')
  const installed = path.join(tool, 'node_modules/.installed')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(from, 'utf8')) return
  mkdirSync(tool, { recursive: true })
  cpSync(path.dirname(from), tool, { recursive: true })
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', tool]
  if (spawnSync('npm', args, { stdio: 'inherit' }).status !== 0) process.exit(1)
  cpSync(from, installed)
}
