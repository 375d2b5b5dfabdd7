/**
 * `npx cdk8s synth` as a user runs it: what it writes, and what it leaves alone when it refuses.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/repository.ts'

const root = path.resolve(import.meta.dirname, '../..')

type Ended = { status: number | null; stderr: string }
type Checkout = {
  folder: string
  /** With the values of a file of this name and content. */
  synth(name?: string, content?: string, args?: readonly string[]): Ended
  /** The same without the command line of cdk8s in between, which takes a second. */
  app(name: string, content?: string): Ended
  /** The files of dist/ and their content. */
  dist(): Record<string, string>
}

/** This repository, with a dist/ of its own. */
function checkout(t: Test): Checkout {
  const folder = temporaryFolder(t, 'synth')
  for (const name of ['infra', 'examples', 'node_modules']) symlinkSync(path.join(root, name), path.join(folder, name))
  copyFileSync(path.join(root, 'cdk8s.yaml'), path.join(folder, 'cdk8s.yaml'))
  const dist = path.join(folder, 'dist')
  const run = (program: string, args: readonly string[], name = '', content?: string): Ended => {
    if (content !== undefined) writeFileSync(path.join(folder, name), content)
    const { NODE_OPTIONS: _loader, ...inherited } = process.env
    const env = { ...inherited, CDK8S_CHECK_UPGRADE: 'false', CLUSTER_SYNC_VALUES: name }
    return spawnSync(program, args, { cwd: folder, env, encoding: 'utf8', timeout: 120_000 })
  }
  return {
    folder,
    synth: (name, content, args = []) => run(path.join(root, 'node_modules/.bin/cdk8s'), ['synth', ...args], name, content),
    app: (name, content) => run(process.execPath, ['infra/main.ts'], name, content),
    dist: () => Object.fromEntries(readdirSync(dist).map((name) => [name, readFileSync(path.join(dist, name), 'utf8')])),
  }
}

void t.test('dist/ is written as it is committed, byte for byte, with the warnings told', { timeout: 180_000 }, async (t) => {
  const { synth, dist } = checkout(t)
  const { status, stderr } = synth()
  t.equal(status, 0, stderr)
  t.match(stderr, 'warning: webhook.failurePolicy')
  const committed = readdirSync(path.join(root, 'dist')).filter((name) => name.endsWith('.yaml'))
  t.same(dist(), Object.fromEntries(committed.map((name) => [name, readFileSync(path.join(root, 'dist', name), 'utf8')])))
})

void t.test('what cannot be used is refused by name, and dist/ stays as it was', { timeout: 180_000 }, async (t) => {
  const { folder, synth, app, dist } = checkout(t)
  mkdirSync(path.join(folder, 'dist'))
  const kept = { 'operator.k8s.yaml': 'earlier\n', 'notes.md': 'of the user\n' }
  for (const [name, content] of Object.entries(kept)) writeFileSync(path.join(folder, 'dist', name), content)
  const refused: [name: string, content: string | undefined, message: string][] = [
    ['values.yaml', 'replicas: 2\n', 'replicas: unknown key; did you mean replicaCount?'],
    ['absent.yaml', undefined, 'CLUSTER_SYNC_VALUES: absent.yaml cannot be used: it does not exist'],
    ['absent.ts', undefined, 'CLUSTER_SYNC_VALUES: absent.ts cannot be used: it does not exist, or imports what does not'],
    ['broken.yaml', 'a: [\n', 'CLUSTER_SYNC_VALUES: broken.yaml cannot be used: '],
    ['values.ts', 'export const other = {}\n', 'CLUSTER_SYNC_VALUES: values.ts cannot be used: it exports no "values"'],
  ]
  for (const [index, [name, content, message]] of refused.entries()) {
    const { status, stderr } = index === 0 ? synth(name, content) : app(name, content)
    t.not(status, 0, name)
    t.match(stderr, message)
    t.same(dist(), kept, `${name}: dist/ is as it was`)
  }
})

void t.test('without crds.install the definitions go, and files of others stay', { timeout: 180_000 }, async (t) => {
  const { folder, app, dist } = checkout(t)
  t.equal(app('values.json', '{"replicaCount": 2}').status, 0)
  writeFileSync(path.join(folder, 'dist/notes.md'), 'of the user\n')
  t.same(Object.keys(dist()).toSorted(), ['crds.k8s.yaml', 'notes.md', 'operator.k8s.yaml'])
  t.equal(app('values.yaml', 'crds: { install: false }\n').status, 0)
  t.same(Object.keys(dist()).toSorted(), ['notes.md', 'operator.k8s.yaml'])
})

void t.test('the production example is written elsewhere when a folder is named', { timeout: 180_000 }, async (t) => {
  const { folder, synth } = checkout(t)
  const { status, stderr } = synth('examples/production.ts', undefined, ['--output', 'other'])
  t.equal(status, 0, stderr)
  t.notMatch(stderr, 'warning')
  t.match(readFileSync(path.join(folder, 'other/operator.k8s.yaml'), 'utf8'), 'kind: PrometheusRule')
  t.notOk(existsSync(path.join(folder, 'dist')))
})
