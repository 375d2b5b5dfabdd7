/**
 * `npx cdk8s synth` as a user runs it: the files that it writes, and those that it keeps when it refuses.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/repository.ts'
import { containsText } from '../support/assertions.ts'

const root = path.resolve(import.meta.dirname, '../..')

type Ended = { status: number | null; stderr: string }
type Checkout = {
  folder: string
  /** With the values of a file with this name and content. */
  synth(name?: string, content?: string, args?: readonly string[]): Ended
  /** The same without the cdk8s command line, which takes a second. */
  app(name: string, content?: string): Ended
  /** The files of dist/ and their content. */
  dist(): Record<string, string>
  /** Runs everything with another `node`. */
  useNode(script: string): void
}

/** A copy of this repository with its own dist/. */
function checkout(t: Test): Checkout {
  const folder = temporaryFolder(t, 'synth')
  for (const name of ['infra', 'examples', 'node_modules', 'scripts']) symlinkSync(path.join(root, name), path.join(folder, name))
  copyFileSync(path.join(root, 'cdk8s.yaml'), path.join(folder, 'cdk8s.yaml'))
  const dist = path.join(folder, 'dist')
  const programs = path.join(folder, 'programs')
  const { NODE_OPTIONS: _loader, PATH, ...inherited } = process.env
  const run = (program: string, args: readonly string[], name = '', content?: string): Ended => {
    if (content !== undefined) writeFileSync(path.join(folder, name), content)
    const env = {
      ...inherited,
      PATH: [programs, path.dirname(process.execPath), PATH].join(path.delimiter),
      CDK8S_CHECK_UPGRADE: 'false',
      CLUSTER_SYNC_TEST_CACHE: path.join(folder, 'cache'),
      CLUSTER_SYNC_VALUES: name,
    }
    return spawnSync(program, args, { cwd: folder, env, encoding: 'utf8', timeout: 120_000 })
  }
  return {
    folder,
    synth: (name, content, args = []) => run(path.join(root, 'node_modules/.bin/cdk8s'), ['synth', ...args], name, content),
    app: (name, content) => run(process.execPath, ['infra/main.ts'], name, content),
    dist: () => filesBelow(dist),
    useNode(script) {
      mkdirSync(programs)
      writeFileSync(path.join(programs, 'node'), script, { mode: 0o755 })
    },
  }
}

function filesBelow(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map(({ parentPath, name }) => path.join(parentPath, name)).toSorted()
  return Object.fromEntries(paths.map((file) => [path.relative(folder, file), readFileSync(file, 'utf8')]))
}

void t.test('dist/ is written byte for byte as committed, with the warnings on stderr', { timeout: 600_000 }, async (t) => {
  const { synth, dist } = checkout(t)
  const { status, stderr } = synth()
  t.equal(status, 0, stderr)
  containsText(t, stderr, 'warning: webhook.failurePolicy')
  const committed = readdirSync(path.join(root, 'dist')).filter((name) => name.endsWith('.yaml'))
  t.strictSame(dist(), Object.fromEntries(committed.map((name) => [name, readFileSync(path.join(root, 'dist', name), 'utf8')])))
})

void t.test('unusable values are refused with their name, and dist/ stays unchanged', { timeout: 600_000 }, async (t) => {
  const { folder, synth, app, dist } = checkout(t)
  mkdirSync(path.join(folder, 'dist'))
  const kept = { 'operator.k8s.yaml': 'earlier\n', 'notes.md': 'of the user\n' }
  for (const [name, content] of Object.entries(kept)) writeFileSync(path.join(folder, 'dist', name), content)
  const refused: [name: string, content: string | undefined, message: string][] = [
    ['values.yaml', 'replicas: 2\n', 'replicas: unknown key; did you mean replicaCount?'],
    ['absent.yaml', undefined, 'CLUSTER_SYNC_VALUES: absent.yaml cannot be used: it does not exist'],
    ['absent.ts', undefined, 'CLUSTER_SYNC_VALUES: absent.ts cannot be used: it does not exist, or a module that it imports does not'],
    ['broken.yaml', 'a: [\n', 'CLUSTER_SYNC_VALUES: broken.yaml cannot be used: '],
    ['values.ts', 'export const other = {}\n', 'CLUSTER_SYNC_VALUES: values.ts cannot be used: it exports no "values"'],
  ]
  for (const [index, [name, content, message]] of refused.entries()) {
    const { status, stderr } = index === 0 ? synth(name, content) : app(name, content)
    t.not(status, 0, name)
    containsText(t, stderr, message)
    t.strictSame(dist(), kept, `${name}: dist/ is as it was`)
  }
})

void t.test('without crds.install the CRD file is removed, and other files stay', { timeout: 600_000 }, async (t) => {
  const { folder, app, dist } = checkout(t)
  t.equal(app('values.json', '{"replicaCount": 2}').status, 0)
  writeFileSync(path.join(folder, 'dist/notes.md'), 'of the user\n')
  t.strictSame(Object.keys(dist()).toSorted(), ['crds.k8s.yaml', 'notes.md', 'operator.k8s.yaml'])
  t.equal(app('values.yaml', 'crds: { install: false }\n').status, 0)
  t.strictSame(Object.keys(dist()).toSorted(), ['notes.md', 'operator.k8s.yaml'])
})

void t.test('the production example is written to another folder with --output', { timeout: 600_000 }, async (t) => {
  const { folder, synth } = checkout(t)
  const { status, stderr } = synth('examples/production.ts', undefined, ['--output', 'other'])
  t.equal(status, 0, stderr)
  containsText(t, readFileSync(path.join(folder, 'other/operator.k8s.yaml'), 'utf8'), 'kind: PrometheusRule')
  t.notOk(existsSync(path.join(folder, 'dist')))
})

void t.test(
  '--output dist writes dist/ as committed, and the chart stays there when values are refused',
  { timeout: 600_000 },
  async (t) => {
    const { synth, dist } = checkout(t)
    const committed = filesBelow(path.join(root, 'dist'))
    const { status, stderr } = synth(undefined, undefined, ['--output', 'dist'])
    t.equal(status, 0, stderr)
    t.strictSame(dist(), committed)
    t.not(synth('values.yaml', 'replicas: 2\n', ['--output', 'dist']).status, 0)
    t.strictSame(dist(), Object.fromEntries(Object.entries(committed).filter(([name]) => name.startsWith('chart/'))))
  },
)

void t.test('an older Node that does not strip types synthesizes the same manifests', { timeout: 600_000 }, async (t) => {
  const { folder, synth, dist, useNode } = checkout(t)
  const kept = path.join(folder, 'cache', `node-v${readFileSync(path.join(root, '.node-version'), 'utf8').trim()}`)
  mkdirSync(kept, { recursive: true })
  symlinkSync(process.execPath, path.join(kept, 'node'))
  const disguise = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.19.0"}})`
  useNode(`#!/bin/sh\nexec ${process.execPath} --no-experimental-strip-types --import '${disguise}' "$@"\n`)
  const { status, stderr } = synth()
  t.equal(status, 0, stderr)
  t.equal(dist()['operator.k8s.yaml'], readFileSync(path.join(root, 'dist/operator.k8s.yaml'), 'utf8'))
})
