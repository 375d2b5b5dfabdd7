/**
 * `cycle-forever.ts <dataDir>`: syncs a folder from commit to commit until it is killed. Reads the trees as JSON from stdin; writes "."
 * after each cycle.
 */
import { text } from 'node:stream/consumers'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { type EngineMemory, runCycle } from '../../../runtime/sync/cycle.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../memory-source.ts'

const [dataDir = ''] = process.argv.slice(2)
const trees = JSON.parse(await text(process.stdin)) as Tree[]
const source = memorySource()
const commits = trees.map((tree) => source.commit(tree))
const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const memory: EngineMemory = { manifest: undefined }
/** Without the base a source returns no differences, and a listing is staged while it arrives. */
let forgotten: (() => void) | undefined
for (;;) {
  const next = Math.floor(Math.random() * commits.length)
  const [commit, tree] = [commits[next], trees[next]]
  if (commit === undefined || tree === undefined) break
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
  const { phase, message } = await runCycle(deps, desiredOf(dataDir, commit, profile), AbortSignal.timeout(30_000))
  if (phase !== 'Synced') throw new Error(`${phase}: ${message}`)
  process.stdout.write('.')
  forgotten?.()
  forgotten = undefined
  if (Math.random() < 0.5) continue
  source.forget(commit)
  forgotten = () => void source.commit(tree)
}
