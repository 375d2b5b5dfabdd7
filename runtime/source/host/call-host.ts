/**
 * Calls of git that speak with the host of a mirror: with its credentials, by the way that leads to it, in a share of git's memory.
 */
import { existsSync } from 'node:fs'
import { Fault } from '../../fault.ts'
import { connect } from './connect.ts'
import { type Network } from '../remote/network.ts'
import { type GitLimits, runGit } from '../git/git.ts'
import type { CallSize, GitMemory } from '../git/memory.ts'
import { localUploadPack } from './local-repository.ts'
import { sweep } from '../disk/mirror-folder.ts'
import type { Remote } from '../remote/remote.ts'

/** `args` begins with a command that takes `--upload-pack`; `maxPackBytes`: of what it may write. */
export type HostCall = { at: string; args: readonly string[]; timeoutMs: number; maxPackBytes?: number }

/** Returns what git prints. Throws the faults of git and of connecting. */
export type CallHost = (call: HostCall, signal: AbortSignal) => Promise<Buffer>

type Options = {
  remote: Remote
  network: Network
  limits: GitLimits
  memory: GitMemory
  /** How long the host may send next to nothing before git gives up, to begin with. */
  patienceSeconds?: number
}

const usualPatienceSeconds = 30
const mostPatienceSeconds = 480
const moreEachTime = 4

/** Calls git for one remote. A call that runs out of memory is repeated once with the large share, and so are all later fetches. */
export function openHost({ remote, network, limits, memory, patienceSeconds = usualPatienceSeconds }: Options): CallHost {
  const { url } = remote
  /** A host that took the call is waited for longer next time: a busy one needs its time to pack a large commit. */
  let patience = patienceSeconds
  /** Of git when it fetches from this host. */
  let fetchSize: 'small' | 'large' = 'small'

  const callWith = async (size: CallSize, call: HostCall, signal: AbortSignal): Promise<Buffer> => {
    const { at, args, timeoutMs, maxPackBytes = limits.maxPackBytes } = call
    const [command = '', ...rest] = args
    const all = url.protocol === 'file' ? [command, localUploadPack(url.text), ...rest] : args
    // Before a share of the memory is taken: a name server or an API that does not answer must not hold one.
    await using connection = await connect(remote, network, signal)
    const settings = [...(connection.forGit.settings ?? []), `http.lowSpeedTime=${patience}`]
    using share = await memory.take(size, signal)
    const own = { maxPackBytes, maxMemoryBytes: Math.min(share.maxMemoryBytes, limits.maxMemoryBytes) }
    try {
      const run = { folder: at, args: all, ...connection.forGit, settings, protocols: [url.protocol], timeoutMs }
      return await runGit(run, { limits: own, signal })
    } catch (error) {
      if (error instanceof Fault && error.reason === 'GitTimeout') patience = Math.min(mostPatienceSeconds, patience * moreEachTime)
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

/** Whatever the host answers, no more than this is taken. */
const mostOfAnswer = 1024 * 1024

function isQuestion({ args: [command], maxPackBytes }: HostCall): boolean {
  return command === 'ls-remote' || (maxPackBytes ?? Infinity) <= mostOfAnswer
}
