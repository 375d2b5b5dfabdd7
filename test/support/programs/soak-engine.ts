/**
 * `soak-engine.ts <repository url> <data directory> <mirrors>`: follows a repository with a mirror and the engine, for a soak that kills it
 * and damages its records. Each line on stdin names a commit; the newest one is applied, with retries until it succeeds. Prints one line of
 * JSON per cycle.
 */
import { readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { backoffMs, systemClock } from '../../../runtime/platform/clock.ts'
import { asFault } from '../../../runtime/platform/fault.ts'
import { type CommitHash, parseCommitHash, parseRelativePath } from '../../../runtime/api/values.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../runtime/git/remote/remote.ts'
import { type EngineMemory, runCycle } from '../../../runtime/sync/cycle.ts'
import { profileOf, desiredOf } from '../memory-source.ts'

/** `lost`: findings about files with an unknown owner. */
export type SoakLine = {
  commit: string
  phase: string
  reason: string
  message: string
  lost: string[]
  descriptors: number
  rssMiB: number
}

const [repo = '', dataDir = '', folder = ''] = process.argv.slice(2)
const mirrors = createMirrors({ folder, clock: systemClock, log: silentLog })
const mirror = mirrors.of(anonymousRemote(repo, { allowLocal: true }))
const source = mirror.source(() => [parseRelativePath('projects')])
const profile = profileOf([{ source: 'projects', destination: 'projects' }], { drift: 'Restore' })
const memory: EngineMemory = { manifest: undefined }
const stop = new AbortController()
let desired: CommitHash | undefined
let news: () => void = () => undefined

function say(line: Omit<SoakLine, 'descriptors' | 'rssMiB'>): void {
  const descriptors = readdirSync('/proc/self/fd').length
  process.stdout.write(`${JSON.stringify({ ...line, descriptors, rssMiB: process.memoryUsage.rss() / 1024 / 1024 })}\n`)
}

async function bringInPlace(commit: CommitHash): Promise<boolean> {
  try {
    await mirror.ensure(commit, stop.signal)
    const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
    const {
      phase,
      reason = '',
      message = '',
      commit: held = '',
      findings = [],
    } = await runCycle(deps, desiredOf(dataDir, commit, profile), stop.signal)
    const lost = findings.filter(({ rule }) => rule === 'ownership-lost').map((finding) => finding.message)
    say({ commit: held, phase, reason, message, lost })
    return phase === 'Synced'
  } catch (error) {
    if (stop.signal.aborted) return true
    const { reason, message } = asFault(error)
    say({ commit: '', phase: 'Failed', reason, message, lost: [] })
    return false
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    desired = parseCommitHash(line)
    news()
  })
  .on('close', () => {
    stop.abort(new Error('stdin ended'))
    news()
  })

let done: CommitHash | undefined
let failures = 0
while (!stop.signal.aborted) {
  if (desired === undefined || desired === done) {
    await new Promise<void>((resolve) => (news = resolve))
    continue
  }
  const commit = desired
  if (await bringInPlace(commit)) {
    done = commit
    failures = 0
  } else {
    failures += 1
    await systemClock.wait(backoffMs(failures, 100, 2_000, systemClock.random()))
  }
}
await mirrors.close()
