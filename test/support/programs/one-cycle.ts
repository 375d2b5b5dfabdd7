/**
 * `one-cycle.ts <dataDir> <boundary> <from>`: brings a folder from one commit to another and kills itself at the n-th boundary between two
 * effects. Reads the trees as JSON from stdin: `[before, after]`. `from`: `differences`, or `listing`, which stages files one by one as it
 * arrives.
 */
import { text } from 'node:stream/consumers'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { runCycle } from '../../../runtime/sync/cycle.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../memory-source.ts'

const [dataDir = '', at = '', from = ''] = process.argv.slice(2)
const [before, after] = JSON.parse(await text(process.stdin)) as [Tree, Tree]
const source = memorySource()
if (from === 'differences') source.commit(before)
let passed = 0
const result = await runCycle(
  {
    source,
    gateway: undefined,
    clock: systemClock,
    log: silentLog,
    memory: { manifest: undefined },
    boundary() {
      passed += 1
      if (passed === Number(at)) process.kill(process.pid, 'SIGKILL')
    },
  },
  desiredOf(dataDir, source.commit(after), profileOf([{ source: 'projects', destination: 'projects' }])),
  AbortSignal.timeout(30_000),
)
process.stdout.write(JSON.stringify({ result, passed }))
