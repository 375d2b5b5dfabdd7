/**
 * The gateway's container may put any kind and size of file into the data directory. None stops the agent:
 * a fifo is not waited for, and a sparse file of a terabyte is not read.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { checkRendered } from '../../runtime/sync/check/check-rendered.ts'
import { blobIdOf, type Owned } from '../../runtime/sync/model/manifest.ts'
import { findDrift } from '../../runtime/sync/plan/observe.ts'
import { temporaryFolder } from '../support/repository.ts'

const like = 'a'.repeat(40) as Owned['id']
const terabyte = 1024 ** 4

function sparse(file: string, bytes: number): void {
  writeFileSync(file, '')
  truncateSync(file, bytes)
}

const resource = 'config/resources/core/ignition/database-connection/db'

/** Checks a rendered resource with one more file, for which the disk holds what `plant` puts there. */
async function checkBeside(t: Test, plant: (file: string) => void): Promise<string[]> {
  const dataDir = temporaryFolder(t, 'planted-files')
  const write = (file: string, content: string): void => {
    mkdirSync(path.join(dataDir, path.dirname(file)), { recursive: true })
    writeFileSync(path.join(dataDir, file), content)
  }
  write('config/resources/core/config-mode.json', '{"title":"core","enabled":true,"inheritable":true}')
  write(`${resource}/resource.json`, '{"scope":"A","version":1,"files":["config.json"],"attributes":{}}')
  write(`${resource}/config.json`, '{}')
  plant(path.join(dataDir, 'planted'))
  const place = (file: string): string => (file === `${resource}/z.bin` ? 'planted' : file)
  const view = { puts: [`${resource}/config.json`, `${resource}/z.bin`], isDeleted: () => false, place, dataDir }
  const content = { rendered: [`${resource}/config.json`], view, chain: ['core'], mode: undefined, rules: {} }
  const { findings } = await checkRendered(content, AbortSignal.timeout(20_000))
  return findings.filter((finding) => finding.path.endsWith('/z.bin')).map(({ rule }) => rule)
}

void t.test('a fifo in the folder of a rendered resource is not waited for', async (t) => {
  const rules = await checkBeside(t, (file) => void execFileSync('mkfifo', [file]))
  t.strictSame(rules, ['unlisted-file'])
})

void t.test('a terabyte in the folder of a rendered resource is not read', async (t) => {
  const rules = await checkBeside(t, (file) => sparse(file, terabyte))
  t.strictSame(rules, ['unlisted-file'])
})

/** Drift of one file that was written with the content `a` and has been replaced. */
async function driftOf(t: Test, bytes: number) {
  const dataDir = temporaryFolder(t, 'planted-files')
  sparse(path.join(dataDir, 'a'), bytes)
  const stat = { size: 1, mtimeMs: 1, ino: 1, mode: 0o644 }
  const id = blobIdOf(like, Buffer.from('a'))
  const owned = new Map<string, Owned>([['a', { id, exec: false, mapping: 0, stat, rendered: undefined, driftVerdict: undefined }]])
  const { drifted } = await findDrift(dataDir, owned, { like, verifyContent: false }, AbortSignal.timeout(20_000))
  return drifted.map(({ seen }) => (seen.kind === 'file' ? seen.id : seen.kind))
}

void t.test('a managed file that has grown to a terabyte is a local change, and is not read', async (t) => {
  t.strictSame(await driftOf(t, terabyte), [null])
})

void t.test('hashing a large file leaves time for probes and signals', async (t) => {
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  turn()
  const bytes = 16 * 1024 * 1024
  t.strictSame(await driftOf(t, bytes), [blobIdOf(like, new Uint8Array(bytes))])
  isOver = true
  t.ok(turns > 100, `${turns} turns`)
})
