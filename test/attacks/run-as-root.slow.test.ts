/**
 * A run as root over a data directory that a gateway's user owns gives that user no privileges: the process switches to that user before it
 * touches the directory.
 */
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { identityFor } from '../../runtime/standalone/identity.ts'
import { listTree } from '../../scripts/quickstart/check.ts'
import { matchObject } from '../support/assertions.ts'
import { makeRepository, temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { runCli } from '../support/run-cli.ts'
import { writeGatewaySync } from '../support/standalone-run.ts'

const gatewayUser = 2003
/** tap's preloads would write to a folder of root when the process ends. */
const withoutTap = { NODE_OPTIONS: '', NODE_V8_COVERAGE: '' }
const isRoot = process.geteuid?.() === 0

/** A plant that root installed: the data directory belongs to the gateway's user, everything beside it to root. */
function plant(t: Test, name: string) {
  const folder = temporaryFolder(t, name)
  chmodSync(folder, 0o755)
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  chownSync(dataDir, gatewayUser, gatewayUser)
  const vault = path.join(folder, 'vault')
  mkdirSync(vault, { mode: 0o700 })
  writeFileSync(path.join(vault, 'secret'), 'only root may read this', { mode: 0o600 })
  const repository = makeRepository(path.join(folder, 'repository'))
  const file = writeGatewaySync(folder, { repo: repository.folder })
  const stateHome = path.join(folder, 'lib')
  const run = (...more: string[]) =>
    runCli(['run', '-f', file, '--data', dataDir, '--once', ...more], { env: { ...withoutTap, STATE_DIRECTORY: stateHome } })
  return { folder, dataDir, vault, repository, stateHome, file, run }
}

function skipped(t: Test): boolean {
  if (isRoot) return !requires(t, 'git')
  t.comment('skipped: needs root, to stand for a run of root')
  return true
}

void t.test("every written file belongs to the gateway's user and lies where that user may write", async (t) => {
  if (skipped(t)) return
  const { dataDir, repository, stateHome, run } = plant(t, 'owner')
  repository.commit({ 'projects/a.txt': 'a', 'projects/deep/b.txt': 'b' })
  const { code, stderr } = await run()
  t.equal(code, 0, stderr)
  for (const file of ['', ...listTree(dataDir), 'projects', '.cluster-sync'])
    t.equal(statSync(path.join(dataDir, file)).uid, gatewayUser, file)
  const [state = ''] = readdirSync(stateHome)
  t.match(state, /^data-[0-9a-f]{12}$/)
  t.equal(statSync(stateHome).uid, 0, 'the folder above the state is root’s')
  for (const file of ['', 'state.json', 'mirrors']) t.equal(statSync(path.join(stateHome, state, file)).uid, gatewayUser, file)
  t.notOk(existsSync(path.join(dataDir, '.cluster-sync/state')), 'nothing of the runner lies in the data directory')
})

void t.test('a symbolic link in place of a folder leads no file into a folder of root', async (t) => {
  if (skipped(t)) return
  const { dataDir, vault, repository, run } = plant(t, 'link')
  repository.commit({ 'projects/a.txt': 'a', 'projects/q/b.txt': 'b' })
  mkdirSync(path.join(dataDir, 'projects'))
  chownSync(path.join(dataDir, 'projects'), gatewayUser, gatewayUser)
  symlinkSync(vault, path.join(dataDir, 'projects/q'))
  t.equal((await run()).code, 1)
  t.strictSame(readdirSync(vault), ['secret'])
})

void t.test('a planted journal, manifest or mirror grants no privileges and reaches no file outside', async (t) => {
  if (skipped(t)) return
  const { folder, dataDir, vault, repository, run } = plant(t, 'planted')
  repository.commit({ 'projects/a.txt': 'a' })
  const engine = path.join(dataDir, '.cluster-sync')
  const stolen = path.join(engine, 'run-00000000-0000-4000-8000-000000000000')
  mkdirSync(stolen, { recursive: true })
  writeFileSync(path.join(stolen, '0'), 'of the attacker')
  const step = { op: 'put', path: '../vault/secret', stage: '0', keep: 'k0', before: 'file' }
  const journal = { run: path.basename(stolen), bootId: '', steps: [step], emptied: [], changes: [], state: {} }
  writeFileSync(path.join(engine, 'journal'), JSON.stringify(journal))
  const mirrors = path.join(engine, 'state/mirrors')
  mkdirSync(path.join(mirrors, '0'.repeat(32)), { recursive: true })
  const proof = path.join(folder, 'proof')
  writeFileSync(path.join(mirrors, '0'.repeat(32), 'config'), `[core]\n\talternateRefsCommand = "touch ${proof}; id > ${proof}"\n`)
  for (const name of ['', ...readdirSync(engine, { recursive: true }).map(String)])
    chownSync(path.join(engine, name), gatewayUser, gatewayUser)
  await run()
  t.equal(readFileSync(path.join(vault, 'secret'), 'utf8'), 'only root may read this')
  t.equal(statSync(path.join(vault, 'secret')).uid, 0)
  t.notOk(existsSync(proof))
})

void t.test('a state folder that another user may write to is refused', async (t) => {
  if (skipped(t)) return
  const { folder, dataDir, repository, file } = plant(t, 'state')
  repository.commit({ 'projects/a.txt': 'a' })
  const rows: [string, string][] = [
    ['below a folder of another user', path.join(dataDir, 'state')],
    ['below a folder that others may write', path.join(folder, 'open/state')],
  ]
  mkdirSync(path.join(folder, 'open'))
  chmodSync(path.join(folder, 'open'), 0o777)
  for (const [name, state] of rows) {
    const { code, stderr } = await runCli(['run', '-f', file, '--data', dataDir, '--state', state, '--once'])
    t.equal(code, 2, name)
    t.match(stderr, /another user may write to .*chmod go-w.*--state/, name)
  }
  t.notOk(existsSync(path.join(dataDir, 'projects')))
})

void t.test('a run as root switches to the owner of the data directories or is refused', async (t) => {
  const folder = (uid: number, mode = 0o755, gid = uid) => ({ path: `/data/${uid}`, uid, gid, mode })
  t.strictSame(identityFor(1000, [folder(2003)]), { kind: 'stay' }, 'who is not root stays who they are')
  t.strictSame(identityFor(undefined, [folder(2003)]), { kind: 'stay' })
  t.strictSame(identityFor(0, [folder(0)]), { kind: 'stay' }, 'a folder of root')
  t.strictSame(identityFor(0, [folder(2003), folder(2003)]), { kind: 'become', owner: { uid: 2003, gid: 2003 } })
  matchObject(t, identityFor(0, [folder(2003), folder(2004)]), { kind: 'refuse', message: /one run for the gateways of each user/ })
  matchObject(t, identityFor(0, [folder(2003), folder(0)]), { kind: 'refuse' })
  matchObject(t, identityFor(0, [folder(0, 0o775, 2003)]), { kind: 'refuse', message: /chown.*chmod go-w/ })
})
