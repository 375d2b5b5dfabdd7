/**
 * Runs the calls of git that talk to a mirror's git host: with its credentials, through its proxy, within a share of git's memory.
 */
import { existsSync } from 'node:fs'
import { systemClock } from '../../clock.ts'
import { Fault } from '../../fault.ts'
import { connect } from './connect.ts'
import type { Network } from '../remote/network.ts'
import { type GitLimits, runGit } from '../git/git.ts'
import type { CallSize, GitMemory } from '../git/memory.ts'
import { localReceivePack, localUploadPack } from './local-repository.ts'
import { sweep } from '../disk/mirror-folder.ts'
import type { Remote } from '../remote/remote.ts'

/** `at`: the repository to work in. `args` begin with a command that takes `--upload-pack`, or are a push. `maxPackBytes`: the most that it may write. */
export type HostCall = { at: string; args: readonly string[]; timeoutMs: number; maxPackBytes?: number }

/** Returns what git prints. Throws the faults of git and of connecting. */
export type CallHost = (call: HostCall, signal: AbortSignal) => Promise<Buffer>

type Options = {
  remote: Remote
  network: Network
  limits: GitLimits
  memory: GitMemory
  /**
   * How long the host may send next to nothing before git gives up. Grows fourfold after each such timeout, up to eight minutes, and is what it was
   * once the host has answered all of those calls, or what the host was found to need.
   */
  patienceSeconds?: number
}

const usualPatienceSeconds = 30
const mostPatienceSeconds = 480
const moreEachTime = 4
const mostUnanswered = 16

/** Calls git for one remote. A call that runs out of memory is repeated once with the large share, and so are all later fetches. */
export function openHost({ remote, network, limits, memory, patienceSeconds = usualPatienceSeconds }: Options): CallHost {
  const { url } = remote
  /** A host that accepted the call gets more time at the next one: a busy host needs a while to pack a large commit. */
  let patience = patienceSeconds
  /** What the host was found to need: a success that took longer than the usual patience may have had a pause as long as that. */
  let least = patienceSeconds
  /** The calls for which the host was silent too long, until it has answered them: the answer to another question says nothing about these. */
  const unanswered = new Set<string>()
  /** The share of memory for fetches from this host. */
  let fetchSize: 'small' | 'large' = 'small'

  const callWith = async (size: CallSize, call: HostCall, signal: AbortSignal): Promise<Buffer> => {
    const { at, args, timeoutMs, maxPackBytes = limits.maxPackBytes } = call
    const [command = '', ...rest] = args
    const asked = `${command} ${rest.at(-1) ?? ''}`
    const local = command === 'push' ? localReceivePack : localUploadPack
    const all = url.protocol === 'file' ? [command, local(url.text), ...rest] : args
    // Before taking a share of memory: a name server or an API that does not answer must not occupy one.
    await using connection = await connect(remote, network, signal)
    const settings = [...(connection.forGit.settings ?? []), `http.lowSpeedTime=${patience}`]
    using share = await memory.take(size, signal)
    const own = { maxPackBytes, maxMemoryBytes: Math.min(share.maxMemoryBytes, limits.maxMemoryBytes) }
    try {
      const run = { folder: at, args: all, ...connection.forGit, settings, protocols: [url.protocol], timeoutMs }
      const startedMs = systemClock.monotonicMs()
      const output = await runGit(run, { limits: own, signal })
      const tookSeconds = (systemClock.monotonicMs() - startedMs) / 1000
      // Twice as long, for the next pause is not the same. A call that was waited for no longer than usual needed no more than that.
      if (tookSeconds > patienceSeconds) least = Math.max(least, Math.min(patience, Math.ceil(2 * tookSeconds)))
      unanswered.delete(asked)
      if (unanswered.size === 0) patience = least
      return output
    } catch (error) {
      if (error instanceof Fault && error.reason === 'GitTimeout') {
        patience = Math.min(mostPatienceSeconds, patience * moreEachTime)
        // A call that is never made again stays here and keeps the patience, so there is a bound.
        if (unanswered.size < mostUnanswered) unanswered.add(asked)
      }
      const { credentials } = remote.access
      if (credentials.kind === 'githubApp' && error instanceof Fault && error.reason === 'GitUnauthorised') credentials.refused()
      throw error
    }
  }

  return async (call, signal) => {
    const size = isQuestion(call) ? 'question' : fetchSize
    try {
      return await callWith(size, call, signal)
    } catch (error) {
      if (size === 'large' || !(error instanceof Fault) || error.reason !== 'GitOutOfMemory') throw error
      fetchSize = 'large'
      if (existsSync(call.at)) sweep(call.at)
      return await callWith('large', call, signal)
    }
  }
}

/** A call that may write no more than this counts as a question. */
const mostOfAnswer = 1024 * 1024

function isQuestion({ args: [command], maxPackBytes }: HostCall): boolean {
  return command === 'ls-remote' || (maxPackBytes ?? Infinity) <= mostOfAnswer
}
