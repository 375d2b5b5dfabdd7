/**
 * `cycle-forever.ts <dataDir>`: brings a folder from commit to commit without an end, for whoever kills it. The trees come as JSON on
 * stdin; says "." once the first one is in place.
 */
import { text } from 'node:stream/consumers'
import { systemClock } from '../../../runtime/clock.ts'
import { silentLog } from '../../../runtime/log.ts'
import { type EngineMemory, runCycle } from '../../../runtime/sync/cycle.ts'
import { memorySource, profileOf, type Tree, wantedOf } from '../memory-source.ts'

const [dataDir = ''] = process.argv.slice(2)
const trees = JSON.parse(await text(process.stdin)) as Tree[]
const source = memorySource()
const commits = trees.map((tree) => source.commit(tree))
const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const memory: EngineMemory = { manifest: undefined }
/** Without the base a source gives no differences, and a listing is staged while it arrives. */
let forgotten: (() => void) | undefined
for (let round = 0; ; round += 1) {
  const next = Math.floor(Math.random() * commits.length)
  const [commit, tree] = [commits[next], trees[next]]
  if (commit === undefined || tree === undefined) break
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
  const { phase, message } = await runCycle(deps, wantedOf(dataDir, commit, profile), AbortSignal.timeout(30_000))
  if (phase !== 'Synced') throw new Error(`${phase}: ${message}`)
  if (round === 0) process.stdout.write('.')
  forgotten?.()
  forgotten = undefined
  if (Math.random() < 0.5) continue
  source.forget(commit)
  forgotten = () => void source.commit(tree)
}
