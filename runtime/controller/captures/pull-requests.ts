/**
 * Opens pull requests for pushed capture branches in the background, from the state in the status, so that a new leader continues. A host
 * that does not answer is retried for 15 minutes.
 */
import { openPullRequest } from '../../capture/pull-request/open.ts'
import { writePullRequestText, readCaptured } from '../../capture/pull-request/text.ts'
import { type Clock, deadline } from '../../platform/clock.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import type { Verdict } from '../../reconcile/decide/observation.ts'
import { defaultBranch, followedRef } from '../../api/followed-ref.ts'
import { newFindings } from '../../api/findings.ts'
import type { CaptureEntry } from '../../api/schema/capture-spec.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import { parseCommitHash, type CommitHash } from '../../api/values.ts'
import type { Log } from '../../platform/log/log.ts'
import { Outbox, type Tried } from '../../notifications/outbox.ts'
import type { OpenHostApi } from '../../git/api/host-api.ts'
import type { Mirror } from '../../git/mirrors.ts'

/** A pushed branch of one GatewaySync. `work` is called for each attempt. */
export type Pushed = {
  namespace: string
  name: string
  spec: GatewaySyncSpec
  /** The target branch; undefined: the GatewaySync follows none. */
  base: string | undefined
  entry: CaptureEntry
  work(signal: AbortSignal): Promise<{ mirror: Mirror; validate(commit: CommitHash, signal: AbortSignal): Promise<Verdict> }>
}

type Deps = {
  clock: Clock
  hostApi: OpenHostApi
  /** Called with the final pull-request state of an entry. */
  ended(pushed: Pushed, pullRequest: NonNullable<CaptureEntry['pullRequest']>): void
  /** Called with the reason for a delay; another attempt follows. */
  waits(pushed: Pushed, pullRequest: NonNullable<CaptureEntry['pullRequest']>): void
  /** Delays between attempts; shorter in tests. */
  pace?: { gatherMs: number; spacingMs: number; firstRetryMs: number; timeoutMs?: number }
  log: Log
}

/** `settled` settles after `signal` aborts, once no call is running. */
export type PullRequests = {
  /**
   * Opens the pull request of a branch. While one for the same commit and request is running, its next attempt uses the latest arguments.
   */
  open(key: string, pushed: Pushed): void
  settled(): Promise<void>
}

/** An attempt fetches, validates two commits, and calls the host several times. */
const defaultPace = { gatherMs: 100, spacingMs: 1_000, timeoutMs: 120_000 }
const maxFindings = 20
const maxMessage = 900

/** Runs until `signal` aborts. */
export function createPullRequests({ clock, hostApi, ended, waits, pace, log }: Deps, signal: AbortSignal): PullRequests {
  const { timeoutMs, ...pauses } = { ...defaultPace, ...pace }
  const underWay = new Map<string, Pushed>()
  const end = (key: string, pushed: Pushed, pullRequest: NonNullable<CaptureEntry['pullRequest']>): void => {
    const latest = underWay.get(key)
    if (latest !== undefined && isSame(latest, pushed)) underWay.delete(key)
    ended(pushed, pullRequest)
  }
  const outbox: Outbox<Pushed> = new Outbox(
    {
      clock,
      ...pauses,
      // The deadline of this attempt fires first, so that it can be distinguished from others.
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
            log.error({ ...namesOf(pushed), err: error }, 'pull request failed unexpectedly')
          throw error
        }
      },
      delivered(key, pushed, how) {
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
    settled: () => outbox.settled(),
  }
}

function isSame({ entry: one }: Pushed, { entry: other }: Pushed): boolean {
  return one.commit === other.commit && one.request === other.request
}

function namesOf({ namespace, name, entry: { pod, branch } }: Pushed) {
  return { namespace, name, pod, ...(branch === undefined ? {} : { ref: branch }) }
}

async function open(hostApi: OpenHostApi, pushed: Pushed, signal: AbortSignal): Promise<{ url?: string; how: Tried }> {
  const { namespace, spec, base, entry } = pushed
  const { capture, git } = spec
  const { branch = '', commit = '', baseCommit = '' } = entry
  if (capture?.api !== undefined && base === undefined && followedRef(git) === defaultBranch) {
    const why =
      'the default branch is not known while another ref is requested; the pull request is opened once spec.git.ref is followed again'
    return { how: { kind: 'again', fault: new Fault('PullRequestFailed', why) } }
  }
  if (capture?.api === undefined || base === undefined) {
    const why =
      capture?.api === undefined
        ? 'spec.capture.api is no longer set'
        : `spec.git follows ${followedRef(git)}, which is not a branch to merge into`
    return { how: { kind: 'never', fault: new Fault('PullRequestRefused', why) } }
  }
  const { mirror, validate } = await pushed.work(signal)
  const [at, before] = [parseCommitHash(commit), parseCommitHash(baseCommit)]
  const { files, paths } = await readCaptured(mirror, { branch, commit: at, baseCommit: before }, signal)
  const added = newFindings(await findingsOf(validate, before, signal), await findingsOf(validate, at, signal))
  const findings = added.filter(({ path }) => paths.has(path))
  const summary = {
    ...entry,
    baseCommit,
    files,
    changed: paths.size,
    findings: findings.slice(0, maxFindings),
    skipped: entry.skipped ?? [],
  }
  const { secretRef } = capture.api
  const token = secretRef === undefined ? {} : { secretRef: { name: secretRef.name, key: secretRef.key } }
  const api = await hostApi(namespace, { ...git, auth: capture.auth }, { ...token, field: 'spec.capture.api' }, signal)
  const target = { provider: capture.api.provider, apiBaseURL: capture.api.apiBaseURL, branch, base }
  const opened = await openPullRequest(api, target, (maxText) => writePullRequestText(summary, maxText), signal)
  if (opened.kind === 'open') return { url: opened.url, how: { kind: 'sent' } }
  if (opened.kind === 'later') return { how: { kind: 'again', fault: opened.fault, afterMs: opened.afterMs } }
  return { how: { kind: 'never', fault: opened.fault } }
}

type Finding = { rule: string; path: string; message: string }

/** A failed validation only removes the findings from the pull request: the important checks ran before the push. */
async function findingsOf(
  validate: (commit: CommitHash, signal: AbortSignal) => Promise<Verdict>,
  commit: CommitHash,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  try {
    const verdict = await validate(commit, signal)
    return verdict.kind === 'checked' ? verdict.items : []
  } catch (error) {
    signal.throwIfAborted()
    if (asFault(error).reason === 'Unexpected') throw error
    return []
  }
}
