/**
 * Runs the git calls to a mirror's git host: with its credentials, through its proxy, within a share of git's memory.
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { LRUCache } from 'lru-cache'
import { systemClock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { connect, type Connection, localReceivePack, localUploadPack } from './connect.ts'
import type { Network } from '../remote/network.ts'
import { type GitLimits, runGitWithin } from '../command/git.ts'
import type { CallSize, GitMemory, MemoryLimits } from '../command/memory.ts'
import { hostOf } from '../command/error-patterns.ts'
import { sweep } from '../disk/mirror-folder.ts'
import type { Remote } from '../remote/remote.ts'

/**
 * `at`: the repository to work in. `args` begin with a command that takes `--upload-pack`, or are a push; `input` is its standard input.
 * `maxPackBytes`: the maximum size that it may write. `namespace`: whose share of git's memory it takes.
 */
export type HostCall = { at: string; args: readonly string[]; input?: string; timeoutMs: number; maxPackBytes?: number; namespace: string }

/** Returns git's output. Throws RepositoryTooLarge when that is more than 8 MiB, and the faults of git and of connecting. */
export type CallHost = (call: HostCall, signal: AbortSignal) => Promise<Buffer>

type Options = {
  remote: Remote
  network: Network
  limits: GitLimits
  memory: GitMemory
  /**
   * How long the host may send almost nothing before git aborts. Grows fourfold after each such timeout, up to eight minutes, and returns
   * to the default, or to the time that the host needed, once the host has answered all of those calls.
   */
  patienceSeconds?: number
  /** How long the host may take to list its refs. Default: 30. */
  refsSeconds?: number
}

const defaultPatienceSeconds = 30
const maxPatienceSeconds = 480
const moreEachTime = 4
const maxUnanswered = 16
const defaultRefsSeconds = 30
const lessListed = 'name a tag or branch in spec.git.ref, give spec.git.tagPattern a longer beginning, or delete old branches and tags'
/** Minimum average speed of a pack in bytes per second: links of plants are slow, but a slower host would occupy its share of git for too long. */
const minPackBytes = 4 * 1024
const watchEveryMs = 1_000
/** Maximum number of calls that take the large share before the usual one is tried again. */
const maxLargeCalls = 64
/** Maximum number of namespaces for which the share is remembered; a mirror of a public repository may have many. */
const maxNamespaces = 100

/** Calls git for one remote. A call that runs out of memory is repeated once with the large share. */
export function openHost(options: Options): CallHost {
  const host = new Host(options)
  return (call, signal) => host.call(call, signal)
}

/** A git host, with the shares of memory and the patience that its calls need. */
class Host {
  readonly #options: Options
  readonly #patience: Patience
  /** By the usual share and the namespace: another namespace that uses this mirror may fetch a ref that needs more memory. */
  readonly #histories = new LRUCache<string, MemorySizeHistory>({ max: 2 * maxNamespaces })

  constructor(options: Options) {
    this.#options = options
    this.#patience = new Patience(options.patienceSeconds)
  }

  async call(call: HostCall, signal: AbortSignal): Promise<Buffer> {
    const usual = isQuestion(call) ? 'question' : 'small'
    const user = `${usual} ${call.namespace}`
    const history = this.#histories.get(user) ?? new MemorySizeHistory()
    const size = history.next() ? 'large' : usual
    try {
      const output = await this.#callWith(size, call, signal)
      if (size !== 'large') history.sufficed()
      return output
    } catch (error) {
      if (size === 'large' || !(error instanceof Fault) || error.reason !== 'GitOutOfMemory') throw error
      history.failed()
      this.#histories.set(user, history)
      if (existsSync(call.at)) sweep(call.at)
      return await this.#callWith('large', call, signal)
    }
  }

  async #callWith(size: CallSize, call: HostCall, signal: AbortSignal): Promise<Buffer> {
    const { remote, network, memory } = this.#options
    const [command = '', ...rest] = call.args
    const query = `${command} ${rest.at(-1) ?? ''}`
    // Before taking a share of memory: a name server or an API that does not answer must not occupy one.
    const open = await connect(remote, network, signal)
    try {
      const user = { namespace: call.namespace, host: remote.url.host, repository: remote.url.text }
      const { output, tookSeconds } = await memory.run(size, user, signal, async (ofSize, own) => {
        const connection = await open(own)
        try {
          return await this.#run(call, connection, ofSize, own)
        } catch (error) {
          // Aborted by the limiter, which runs it again: leftovers of a fetch would fail the next one.
          if (own.aborted && !signal.aborted && existsSync(call.at)) sweep(call.at)
          throw error
        }
      })
      this.#patience.answered(query, tookSeconds)
      if (output === undefined)
        throw new Fault('RepositoryTooLarge', `the git host lists more than 8 MiB of branches and tags; ${lessListed}`)
      return output
    } catch (error) {
      if (error instanceof Fault && error.reason === 'GitTimeout') this.#patience.timedOut(query)
      const { credentials } = remote.access
      if (credentials.kind === 'githubApp' && error instanceof Fault && error.reason === 'GitUnauthorized') credentials.refused()
      throw error
    }
  }

  /** Returns git's output, and how long it took. */
  async #run(call: HostCall, { forGit, release }: Connection, ofSize: MemoryLimits, own: AbortSignal) {
    const { remote, limits, refsSeconds = defaultRefsSeconds } = this.#options
    const { url } = remote
    const { at, args, input = '', timeoutMs, maxPackBytes = limits.maxPackBytes } = call
    const [command = '', ...rest] = args
    const local = command === 'push' ? localReceivePack : localUploadPack
    const all = url.protocol === 'file' ? [command, local(url.text), ...rest] : args
    const { seconds } = this.#patience
    const settings = [...(forGit.settings ?? []), `http.lowSpeedTime=${seconds}`]
    const protocols = url.protocol === 'oci' || url.protocol === 'oci+http' ? [] : [url.protocol]
    const run = { folder: at, args: all, input, ...forGit, settings, protocols, timeoutMs }
    const startedMs = systemClock.monotonicMs()
    const maxMemoryBytes = Math.min(ofSize.maxMemoryBytes, limits.maxMemoryBytes)
    // A local repository is the user's own, and its git may take any memory.
    const ownLimits = url.protocol === 'file' ? { maxPackBytes, maxMemoryBytes } : { ...ofSize, maxPackBytes, maxMemoryBytes }
    const over = new AbortController()
    const allowance = { seconds: refsSeconds + seconds, host: hostOf(remote) }
    const watched = command === 'fetch' && url.protocol !== 'file' ? [watchPack(at, allowance, over.signal)] : []
    try {
      const output = await runGitWithin(run, { limits: ownLimits, signal: AbortSignal.any([own, ...watched]) })
      return { output, tookSeconds: (systemClock.monotonicMs() - startedMs) / 1000 }
    } finally {
      over.abort()
      await release()
    }
  }
}

/** How long a host may send nothing: a busy host needs a while to pack a large commit. */
class Patience {
  readonly #defaultSeconds: number
  /** The timeout that the host needed: a success that took longer than the default may have had a pause of that length. */
  #minSeconds: number
  #seconds: number
  /**
   * The calls that the host did not answer for too long, until it has answered them: the answer to another request does not count for
   * these.
   */
  readonly #unanswered = new Set<string>()

  constructor(defaultSeconds = defaultPatienceSeconds) {
    this.#defaultSeconds = defaultSeconds
    this.#minSeconds = defaultSeconds
    this.#seconds = defaultSeconds
  }

  /** The timeout of the next call. */
  get seconds(): number {
    return this.#seconds
  }

  answered(call: string, tookSeconds: number): void {
    // Doubled, because the next pause may be longer. A call that waited no longer than the default needed no more than that.
    if (tookSeconds > this.#defaultSeconds)
      this.#minSeconds = Math.max(this.#minSeconds, Math.min(this.#seconds, Math.ceil(2 * tookSeconds)))
    this.#unanswered.delete(call)
    if (this.#unanswered.size === 0) this.#seconds = this.#minSeconds
  }

  timedOut(call: string): void {
    this.#seconds = Math.min(maxPatienceSeconds, this.#seconds * moreEachTime)
    // A call that is never repeated stays here and keeps the timeout raised, so the set is bounded.
    if (this.#unanswered.size < maxUnanswered) this.#unanswered.add(call)
  }
}

/**
 * Decides which share of memory a call takes first. A first fetch of a large repository needs the large one, of which there is one, and the
 * pushes after it rarely do. When they do as well, the usual share is tried less and less often.
 */
class MemorySizeHistory {
  #failures = 0
  #largeCalls = 0

  /** Whether the next call takes the large share. */
  next(): boolean {
    if (this.#largeCalls === 0) return false
    this.#largeCalls -= 1
    return true
  }

  sufficed(): void {
    this.#failures = 0
  }

  failed(): void {
    this.#failures += 1
    this.#largeCalls = Math.min(maxLargeCalls, 2 ** this.#failures - 2)
  }
}

/**
 * A signal that is aborted with GitTimeout when a fetch takes longer than `seconds`, and a second for each `minPackBytes` that arrived. git
 * itself ends a call only when next to nothing is sent.
 */
function watchPack(at: string, { seconds, host }: { seconds: number; host: string }, over: AbortSignal): AbortSignal {
  const tooSlow = new AbortController()
  const [startedMs, bytesBefore] = [systemClock.monotonicMs(), packBytes(at)]
  let arrived = 0
  const watch = async (): Promise<void> => {
    for (;;) {
      await systemClock.wait(watchEveryMs, over)
      // git removes a pack that it has read to the end when the mirror holds all of it already.
      arrived = Math.max(arrived, packBytes(at) - bytesBefore)
      if (systemClock.monotonicMs() - startedMs > (seconds + arrived / minPackBytes) * 1000) break
    }
    const sent = arrived === 0 ? `sent no pack within ${seconds} s` : `sent less than ${minPackBytes / 1024} KiB/s`
    tooSlow.abort(new Fault('GitTimeout', `${host} ${sent}`))
  }
  watch().catch(() => undefined)
  return tooSlow.signal
}

function packBytes(at: string): number {
  const folder = path.join(at, 'objects/pack')
  if (!existsSync(folder)) return 0
  const packs = readdirSync(folder).filter((name) => name.startsWith('tmp_pack') || name.endsWith('.pack'))
  return packs.reduce((sum, name) => sum + (statSync(path.join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

/** A call that may write no more than this counts as a question. */
const maxAnswerBytes = 1024 * 1024

function isQuestion({ args: [command], maxPackBytes }: HostCall): boolean {
  return command === 'ls-remote' || (maxPackBytes ?? Infinity) <= maxAnswerBytes
}
