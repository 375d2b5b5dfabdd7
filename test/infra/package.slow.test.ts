/**
 * The packed constructs in an app outside the checkout, with the compiler, settings and Node of `cdk8s init typescript-app`: the app of
 * docs/tutorials/cdk8s.md synthesizes, and that of the package's page writes the content of dist/.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { textsIn } from '../support/page.ts'
import { everything } from './installed.ts'
import { temporaryFolder } from '../support/repository.ts'
import { absent } from '../support/requires.ts'

const root = path.resolve(import.meta.dirname, '../..')
const template = path.join(root, 'node_modules/cdk8s-cli/templates/typescript-app')
const read = (...parts: string[]): string => readFileSync(path.join(...parts), 'utf8')

void t.test('the packed constructs work in a plain cdk8s app on Node 22', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t, 'package')
  const app = path.join(folder, 'app')
  mkdirSync(app)
  if (!succeeds(t, await run(root, 'node', ['scripts/package/main.ts', path.join(folder, 'cluster-sync-operator/build')]))) return
  writeApp(app)
  if (!(await isInstalled(t, app))) return
  t.match((await run(app, 'node', ['--version'])).output, /^v22[.]/)

  const { peerDependencies } = JSON.parse(read(app, 'node_modules/cluster-sync-operator/package.json')) as {
    peerDependencies: Record<string, string>
  }
  t.strictSame(Object.keys(peerDependencies), ['cdk8s', 'cdk8s-plus-28', 'constructs'], 'the app and the constructs share them')
  const page = read(root, 'docs/tutorials/cdk8s.md')
  for (const name of ['cdk8s', 'constructs'])
    t.ok(page.includes(`\`${name}\` ${peerDependencies[name]?.slice(1)}`), `the page names the oldest version of ${name}`)
  succeeds(t, await run(app, 'tsc', ['--noEmit']))
  t.notMatch(read(app, 'node_modules/cluster-sync-operator/infra/values.d.ts'), /Defaults to .* Default: /, 'a comment has one default')
  // Both programs were type-checked above, so their runs skip the check.
  const checked = { TS_NODE_TRANSPILE_ONLY: 'true' }
  const synth = await run(app, 'node', [path.join(root, 'node_modules/cdk8s-cli/bin/cdk8s'), 'synth', '--check-upgrade=false'], checked)
  succeeds(t, synth)
  t.strictSame(readdirSync(path.join(app, 'dist')), ['crds.k8s.yaml', 'operator.k8s.yaml', 'plant.k8s.yaml'])
  const operator = read(app, 'dist/operator.k8s.yaml')
  t.match(operator, /^kind: PodDisruptionBudget$/m, 'the profile has its values')
  t.match(operator, /example\.com\/team: plant/, 'an object has the annotation that the app adds')
  t.match(operator, /^ {2}minReadySeconds: 10$/m, 'an object has the patch of the app')
  t.match(operator, /^kind: Ingress$/m, 'a Service is exposed by the app')

  const committed = await run(app, 'ts-node', ['committed.ts'], { ...checked, CDK8S_OUTDIR: 'committed' })
  succeeds(t, committed)
  t.match(committed.output, /^warning: webhook\.failurePolicy: /m, 'an app of its own reports the warnings')
  for (const file of ['crds.k8s.yaml', 'operator.k8s.yaml']) t.ok(read(app, 'committed', file) === read(root, 'dist', file), file)
  succeeds(t, await run(root, 'tsc', [...strict, writeComparison(folder)]))
})

const strict = '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --target esnext --module nodenext --types node'
  .concat(' --allowImportingTsExtensions --resolveJsonModule --skipLibCheck')
  .split(' ')

/**
 * A program that compiles only if the packed types of the values equal those of the schema. TypeScript refuses unknown keys only in literals, so
 * one of them has every kind of value.
 */
function writeComparison(folder: string): string {
  const file = path.join(folder, 'same.mts')
  const lines = [
    `import type { ValuesInput as Packed } from './app/node_modules/cluster-sync-operator/infra/index.js'`,
    `import type { ValuesInput } from '${path.join(root, 'infra/values.ts')}'`,
    'export const there = (values: Packed): ValuesInput => values',
    'export const back = (values: ValuesInput): Packed => values',
    `export const literal: Packed = ${JSON.stringify(everything)}`,
  ]
  writeFileSync(file, lines.join('\n'))
  return file
}

/** The app of the template with its tools, and the programs of the documentation. */
function writeApp(app: string): void {
  const { dependencies } = JSON.parse(read(root, 'package.json')) as { dependencies: Record<string, string> }
  const { devDependencies: tools } = JSON.parse(read(template, 'package.json').replaceAll(/\{\{.*?\}\}/g, '1')) as {
    devDependencies: Record<string, string>
  }
  const pick = (from: Record<string, string>, ...names: string[]) => Object.fromEntries(names.map((name) => [name, from[name]]))
  const manifest = {
    name: 'app',
    version: '1.0.0',
    private: true,
    dependencies: pick(dependencies, 'cdk8s', 'constructs'),
    devDependencies: { ...pick(tools, '@types/node', 'typescript', 'ts-node'), node: '22' },
  }
  writeFileSync(path.join(app, 'package.json'), JSON.stringify(manifest))
  writeFileSync(path.join(app, 'tsconfig.json'), read(template, 'tsconfig.json'))
  writeFileSync(path.join(app, 'cdk8s.yaml'), 'language: typescript\napp: npx ts-node main.ts\n')
  writeFileSync(path.join(app, 'main.ts'), textsIn('docs/tutorials/cdk8s.md', 'ts').join(''))
  const [install = '', ...changes] = textsIn('infra/README.md', 'ts')
  writeFileSync(path.join(app, 'committed.ts'), `${install}void operator\n`)
  writeFileSync(path.join(app, 'changed.ts'), [install, ...changes].join(''))
}

/** Runs the install command of the page; false if the registry is unreachable, which skips the test. */
async function isInstalled(t: Test, app: string): Promise<boolean> {
  const command = textsIn('docs/tutorials/cdk8s.md', 'sh').find((block) => block.startsWith('npm install')) ?? 'false'
  const settings = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }
  const ended = await run(app, 'sh', ['-c', command], settings)
  const isCutOff = ended.code !== 0 && /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.test(ended.output)
  if (isCutOff) return absent(t, 'the npm registry is not to be reached')
  return succeeds(t, ended)
}

type Ended = { code: number; output: string }

function succeeds(t: Test, { code, output }: Ended): boolean {
  return t.equal(code, 0, code === 0 ? 'succeeds' : output)
}

/** Runs with the programs of the folder's packages, and without the test runner's loader, which does not support them. */
function run(cwd: string, command: string, args: readonly string[], more: Record<string, string> = {}): Promise<Ended> {
  const PATH = [path.join(cwd, 'node_modules/.bin'), process.env['PATH']].join(path.delimiter)
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...more, PATH }
    // With `env`, because the tap command sets NODE_OPTIONS for every child process.
    const child = spawn('env', ['NODE_OPTIONS=', command, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 240_000 })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}
