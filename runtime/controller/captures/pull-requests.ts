/**
 * Opens pull requests of branches that were pushed with captured changes, beside everything else: from what the status says is waiting, so
 * that a replica that begins to lead goes on. A host that does not answer is asked again for a quarter of an hour.
 */
import { openPullRequest } from '../../capture/pull-request/open.ts'
import { readCaptured } from '../../capture/pull-request/read.ts'
import { pullRequestWords } from '../../capture/pull-request/text.ts'
import { type Clock, deadline } from '../../clock.ts'
import { asFault, Fault } from '../../fault.ts'
import type { Verdict } from '../../gatewaysync/decide/observation.ts'
import { newFindings } from '../../gatewaysync/new-findings.ts'
import type { CaptureEntry } from '../../gatewaysync/schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../../gatewaysync/schema/spec.ts'
import { isCommitHash, parseCommitHash, type CommitHash } from '../../gatewaysync/values.ts'
import type { Log } from '../../log.ts'
import { createOutbox, type Outbox, type Tried } from '../../notify/outbox.ts'
import type { OpenHostApi } from '../../source/host-api.ts'
import type { Mirror } from '../../source/mirrors.ts'

/** A pushed branch of one GatewaySync. `work` is called anew with each try. */
export type Pushed = {
  namespace: string
  name: string
  spec: GatewaySyncSpec
  entry: CaptureEntry
  work(signal: AbortSignal): Promise<{ mirror: Mirror; check(commit: CommitHash, signal: AbortSignal): Promise<Verdict> }>
}

type Deps = {
  clock: Clock
  hostApi: OpenHostApi
  /** What became of the pull request of an entry. */
  ended(pushed: Pushed, pullRequest: NonNullable<CaptureEntry['pullRequest']>): void
  /** Why it was not opened yet; another try follows. */
  waits(pushed: Pushed, pullRequest: NonNullable<CaptureEntry['pullRequest']>): void
  /** How long tries wait; shorter in tests. */
  pace?: { gatherMs: number; spacingMs: number; firstRetryMs: number; timeoutMs?: number }
  log: Log
}

/** `settled` settles after the signal, when no call is under way any more. */
export type PullRequests = {
  /** Opens the pull request of a branch. While that is under way for the same commit and request, its next try takes what was told last. */
  open(key: string, pushed: Pushed): void
  settled(): Promise<void>
}

/** A try fetches, checks two commits, and asks the host for pages. */
const usualPace = { gatherMs: 100, spacingMs: 1_000, timeoutMs: 120_000 }
const mostFindings = 20
const maxMessage = 900

/** Works until the signal. */
export function createPullRequests({ clock, hostApi, ended, waits, pace, log }: Deps, signal: AbortSignal): PullRequests {
  const { timeoutMs, ...pauses } = { ...usualPace, ...pace }
  const underWay = new Map<string, Pushed>()
  const end = (key: string, pushed: Pushed, pullRequest: NonNullable<CaptureEntry['pullRequest']>): void => {
    const latest = underWay.get(key)
    if (latest !== undefined && isSame(latest, pushed)) underWay.delete(key)
    ended(pushed, pullRequest)
  }
  const outbox: Outbox<Pushed> = createOutbox(
    {
      clock,
      ...pauses,
      // This try's own deadline comes first, so that it can be told from any other.
      timeoutMs: 2 * timeoutMs,
      join: (_before, next) => next,
      async send(key, pushed, ending) {
        const own = deadline(timeoutMs, ending)
        const latest = underWay.get(key)
        try {
          const tried = await open(hostApi, latest !== undefined && isSame(latest, pushed) ? latest : pushed, own)
          if (tried.url !== undefined) end(key, pushed, { state: 'Open', url: tried.url })
          return tried.how
        } catch (error) {
          if (own.aborted && !ending.aborted)
            return { kind: 'again', fault: new Fault('PullRequestFailed', `was not opened within ${timeoutMs / 1000} s`) }
          if (!ending.aborted && asFault(error).reason === 'Unexpected')
            log.error({ ...namesOf(pushed), err: error }, 'a pull request met a bug')
          throw error
        }
      },
      told(key, pushed, how) {
        if (how.kind === 'sent') return
        const { reason, message } = how.fault
        const why = { reason, message: message.slice(0, maxMessage) }
        if (how.kind === 'retried') {
          waits(pushed, { state: 'Waiting', ...why })
          return
        }
        if (reason !== 'Unexpected') log.warn({ ...namesOf(pushed), reason, message }, 'a pull request was not opened')
        end(key, pushed, { state: 'Refused', ...why })
      },
    },
    signal,
  )
  return {
    open(key, pushed) {
      const own = `${key} ${pushed.entry.branch ?? ''}`
      const before = underWay.get(own)
      underWay.set(own, pushed)
      if (before === undefined || !isSame(before, pushed)) outbox.put(own, pushed)
    },
    settled: outbox.settled,
  }
}

function isSame({ entry: one }: Pushed, { entry: other }: Pushed): boolean {
  return one.commit === other.commit && one.request === other.request
}

function namesOf({ namespace, name, entry: { pod, branch } }: Pushed) {
  return { namespace, name, pod, ...(branch === undefined ? {} : { ref: branch }) }
}

async function open(hostApi: OpenHostApi, pushed: Pushed, signal: AbortSignal): Promise<{ url?: string; how: Tried }> {
  const { namespace, spec, entry } = pushed
  const { capture, git } = spec
  const { branch = '', commit = '', on = '' } = entry
  const base = baseOf(git.ref)
  if (capture?.api === undefined || base === undefined) {
    const why =
      capture?.api === undefined ? 'spec.capture has no api any more' : `spec.git.ref is ${git.ref}, which is no branch to merge to`
    return { how: { kind: 'never', fault: new Fault('PullRequestRefused', why) } }
  }
  const { mirror, check } = await pushed.work(signal)
  const [at, before] = [parseCommitHash(commit), parseCommitHash(on)]
  const { files, paths } = await readCaptured(mirror, { branch, commit: at, on: before }, signal)
  const added = newFindings(await findingsOf(check, before, signal), await findingsOf(check, at, signal))
  const findings = added.filter(({ path }) => paths.has(path))
  const told = { ...entry, on, files, changed: paths.size, findings: findings.slice(0, mostFindings), leftOut: entry.leftOut ?? [] }
  const { secretRef } = capture.api
  const token = secretRef === undefined ? {} : { secretRef: { name: secretRef.name, key: secretRef.key } }
  const api = await hostApi(namespace, { ...git, auth: capture.auth }, { ...token, field: 'spec.capture.api' }, signal)
  const asked = { provider: capture.api.provider, apiURL: capture.api.apiURL, branch, base }
  const opened = await openPullRequest(api, asked, (maxText) => pullRequestWords(told, maxText), signal)
  if (opened.kind === 'open') return { url: opened.url, how: { kind: 'sent' } }
  if (opened.kind === 'later') return { how: { kind: 'again', fault: opened.fault, afterMs: opened.afterMs } }
  return { how: { kind: 'never', fault: opened.fault } }
}

/** The branch that a ref means; undefined: a tag, or a commit. */
function baseOf(ref: string): string | undefined {
  if (ref.startsWith('refs/heads/')) return ref.slice('refs/heads/'.length)
  return ref.startsWith('refs/') || isCommitHash(ref) ? undefined : ref
}

type Finding = { rule: string; path: string; message: string }

/** A check that cannot be made takes nothing from the pull request but its findings: what matters was checked before the push. */
async function findingsOf(
  check: (commit: CommitHash, signal: AbortSignal) => Promise<Verdict>,
  commit: CommitHash,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  try {
    const verdict = await check(commit, signal)
    return verdict.kind === 'checked' ? verdict.items : []
  } catch (error) {
    signal.throwIfAborted()
    if (asFault(error).reason === 'Unexpected') throw error
    return []
  }
}
