/**
 * The gate in a process of its own, as the controller has it, over a repository on this machine. Message: `{folder, commit, profile}`
 * judges a commit; `{}` only tells the CPU used so far.
 */
import { gateRoots } from '../../../runtime/collections/delivery.ts'
import { createGate } from '../../../runtime/collections/gate.ts'
import type { Verdict } from '../../../runtime/gatewaysync/decide.ts'
import type { ResolvedProfile } from '../../../runtime/gatewaysync/profile.ts'
import { parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { mirrorListing } from '../../../runtime/source/mirror-listing.ts'
import { answerMessages, cpuMs } from '../measured-process.ts'

export type GateMessage = { folder: string; commit: string; profile: ResolvedProfile }
export type GateAnswer = { verdict: Verdict | undefined; tookMs: number; cpuMs: number }

const gate = createGate()
const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }

process.on('disconnect', () => process.exit(0))
answerMessages(async ({ folder, commit: hash, profile }: Partial<GateMessage>): Promise<GateAnswer> => {
  if (folder === undefined || hash === undefined || profile === undefined) return { verdict: undefined, tookMs: 0, cpuMs: cpuMs() }
  const commit = parseCommitHash(hash)
  const startedMs = performance.now()
  const listing = mirrorListing({ folder, limits }, commit, gateRoots([profile]))
  const validation = { policy: 'Enforce', rules: {} } as const
  const request = { profiles: [profile], validation, modesInUse: undefined, commit, line: folder }
  const verdict = await gate.check(listing, request, AbortSignal.timeout(300_000))
  return { verdict, tookMs: performance.now() - startedMs, cpuMs: cpuMs() }
})
