/**
 * `fetch-mirrors.ts <folder> <MiB>`: the controller's mirrors in a process that holds the given amount of memory. A message `{repos,
 * caBundle}` fetches the branch main of all repositories concurrently.
 * The answer has the reason in place of a commit that could not be fetched.
 */
import { randomFillSync } from 'node:crypto'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../runtime/git/mirrors.ts'
import { anonymousRemote, anonymousAccess } from '../../../runtime/git/remote/remote.ts'
import { answerMessages, memoryOf } from '../measured-process.ts'

export type FetchMessage = { repos: readonly string[]; caBundle?: string }
export type FetchAnswer = { commits: string[]; tookMs: number }

const [folder = '', desired = '0'] = process.argv.slice(2)
process.on('disconnect', () => process.exit(0))
const mebibyte = 1024 * 1024
const missing = Math.max(0, Number(desired) - memoryOf(process.pid).anonymousMiB)
// Filled, so that every page is resident.
const ballast = randomFillSync(Buffer.alloc(Math.ceil(missing * mebibyte)))
const mirrors = createMirrors({ folder, clock: systemClock, log: silentLog })

answerMessages(async ({ repos, caBundle }: FetchMessage): Promise<FetchAnswer> => {
  const startedMs = systemClock.monotonicMs()
  const fetched = await Promise.all(
    repos.map(async (repo) => {
      const { url } = anonymousRemote(repo, { allowLocal: false })
      const access = caBundle === undefined ? anonymousAccess : { ...anonymousAccess, identity: 'authority', caBundle }
      try {
        const resolved = await mirrors.of({ url, access }).resolve('main', { fresh: true }, AbortSignal.timeout(280_000))
        await resolved.committedAt
        return resolved.commit
      } catch (error) {
        if (error instanceof Fault) return error.reason
        throw error
      }
    }),
  )
  const tookMs = systemClock.monotonicMs() - startedMs
  if (memoryOf(process.pid).anonymousMiB * mebibyte < ballast.length) throw new Error('what was to be held is not there any more')
  return { commits: fetched, tookMs }
})
