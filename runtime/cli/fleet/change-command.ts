/**
 * Writes a request to a GatewaySync and waits for its outcome.
 */
import type { V1SelfSubjectReview } from '@kubernetes/client-node'
import { systemClock, timestamp } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import {
  type RequestedSync,
  lateOutcome,
  type Outcome,
  outcomeText,
  pauseProgress,
  refProgress,
  requestProgress,
  rolloutProgress,
  type RequestProgress,
} from '../../fleet/action.ts'
import { followRefPatch, pausePatch, refRequestPatch, specRefOf, rollbackTarget } from '../../fleet/request-patch.ts'
import { captureAnnotationsFor, captureProgress } from '../../fleet/capture-action.ts'
import { actionProgress, rolloutActionRequest, type RolloutActionRequest } from '../../fleet/rollout-action.ts'
import type { RolloutVerb } from '../../reconcile/rollout/action.ts'
import { type GatewaySyncRecord, projectGatewaySync } from '../../reconcile/store/records.ts'
import type { Json } from '../../kube/types.ts'
import type { ApproveOptions, CaptureRequestOptions, ChangeOptions, RequestOptions, RollbackOptions } from './options.ts'
import { type Output, print, exitNo, exitYes } from '../output/output.ts'
import { type ClusterCommand, runInCluster, patchSync, readSync } from './cluster.ts'
import { markOf } from '../../fleet/terminal.ts'

const pollEveryMs = 500

/** Requests a ref. Returns the exit code. Throws NotFound, Forbidden, ApiUnavailable, InvalidConfiguration. */
export async function requestCommand(name: string, options: RequestOptions, output: Output): Promise<number> {
  return await runInCluster(options, async (cluster) => {
    const id = systemClock.uuid()
    const who = { by: await requestingUser(cluster), at: timestamp(systemClock.now()) }
    const written = await patchSync(cluster, name, (record) => refRequestPatch(record, { ref: options.ref, id }, who))
    return await follow(cluster, written, { ...options, output }, (sync) => requestProgress(sync, id))
  })
}

/** `pause` and `resume`: sets `spec.paused`; `resume` also resumes a stopped rollout. Returns the exit code. */
export async function pauseCommand(name: string, paused: boolean, options: ChangeOptions, output: Output): Promise<number> {
  return await runInCluster(options, async (cluster) => {
    const who = { by: await requestingUser(cluster), at: timestamp(systemClock.now()) }
    let resumed: RolloutActionRequest | undefined
    const written = await patchSync(cluster, name, (record) => {
      const patch = pausePatch(record, paused, who)
      resumed = patch.resumed
      return patch.change
    })
    return await follow(
      cluster,
      written,
      paused ? { timeout: options.timeout, format: options.format, output } : { ...options, output },
      (sync) => {
        const progress = pauseProgress(sync, paused)
        return progress.kind === 'waiting' || resumed === undefined ? progress : actionProgress(sync, resumed)
      },
    )
  })
}

/** `capture` for gateways in a cluster: requests it by annotation, and optionally waits for the outcome. Returns the exit code. */
export async function captureCommand(name: string, options: CaptureRequestOptions, output: Output): Promise<number> {
  const { only: gateway, timeout, format } = options
  return await runInCluster(options, async (cluster) => {
    const by = await requestingUser(cluster)
    const request = { id: `${timestamp(systemClock.now())}/${systemClock.uuid().slice(0, 8)}`, gateway }
    const written = await patchSync(cluster, name, (record) => ({ metadata: { annotations: captureAnnotationsFor(record, request, by) } }))
    return await follow(cluster, written, { timeout, format, output }, (seen) => captureProgress(seen, request))
  })
}

/** `approve`: lets a waiting rollout continue with the next stage. Returns the exit code. */
export async function approveCommand(name: string, options: ApproveOptions, output: Output): Promise<number> {
  return await actOnRollout(name, { verb: 'approve', stage: options.stage }, { ...options, output })
}

/** `abort`: does not wait for gateways, because the commit is not rolled out. */
export async function abortCommand(name: string, { timeout, format, ...options }: ChangeOptions, output: Output): Promise<number> {
  return await actOnRollout(name, { verb: 'abort' }, { ...options, wait: false, timeout, format, output })
}

async function actOnRollout(
  name: string,
  action: { verb: RolloutVerb; stage?: string | undefined },
  options: Omit<ChangeOptions, 'wait'> & Waiting,
): Promise<number> {
  return await runInCluster(options, async (cluster) => {
    const who = { by: await requestingUser(cluster), at: timestamp(systemClock.now()) }
    const before = projectGatewaySync(await readSync(cluster, name))
    let request = rolloutActionRequest(before, action, who)
    const written = await patchSync(cluster, name, (record) => {
      request = rolloutActionRequest(record, action, who)
      return { metadata: { annotations: request.annotations } }
    })
    return await follow(cluster, written, options, (seen) => actionProgress(seen, request))
  })
}

/** `rollback`: requests the previous commit, or the named one. Returns the exit code. */
export async function rollbackCommand(name: string, options: RollbackOptions, output: Output): Promise<number> {
  return await runInCluster(options, async (cluster) => {
    const before = projectGatewaySync(await readSync(cluster, name))
    const target = rollbackTarget({ ...before, context: cluster.context, specRef: specRefOf(before.spec) }, options.to)
    const { ref, change } = followRefPatch(before, target.ref)
    const written = await patchSync(cluster, name, () => change)
    return await follow(cluster, written, { ...options, output }, (sync) => refProgress(sync, ref), target.notes)
  })
}

type Waiting = Pick<ChangeOptions, 'timeout' | 'format'> & { wait?: boolean; output: Output }

/** Waits for the outcome, and optionally until every gateway runs the commit; prints both. Returns the exit code. */
async function follow(
  cluster: ClusterCommand,
  record: GatewaySyncRecord,
  { wait, timeout, format, output }: Waiting,
  progressOf: (sync: RequestedSync) => RequestProgress,
  notes: readonly string[] = [],
): Promise<number> {
  const written = { ...record, context: cluster.context }
  const endMs = systemClock.monotonicMs() + timeout
  const report = format === 'json' ? () => undefined : progressPrinter(output)
  const printOutcome = (outcome: Outcome): number => {
    const { namespace, name } = written
    const all = { ...outcome, next: [...outcome.next, ...notes] }
    if (format === 'json') print(output, [JSON.stringify({ namespace, name, ...all }, undefined, 2)])
    else print(output, outcomeText(written, all, output.style))
    return outcome.done ? exitYes : exitNo
  }
  const { outcome, sync } = await untilEnded(cluster, written, progressOf, { endMs, timeout, report })
  const { commit } = outcome
  if (wait !== true || !outcome.done || commit === undefined) return printOutcome(outcome)
  report(outcome.message)
  const rollout = await untilEnded(cluster, sync, (sync) => rolloutProgress(sync, commit), { endMs, timeout, report })
  return printOutcome(rollout.outcome)
}

type Until = { endMs: number; timeout: number; report: (sentence: string) => void }

/** Polls from the last seen state on; retries if the API server is unavailable for a moment. */
async function untilEnded(
  cluster: ClusterCommand,
  seen: RequestedSync,
  progressOf: (sync: RequestedSync) => RequestProgress,
  { endMs, timeout, report }: Until,
): Promise<{ outcome: Outcome; sync: RequestedSync }> {
  let sync = seen
  for (;;) {
    const progress = progressOf(sync)
    if (progress.kind === 'ended') return { outcome: progress.outcome, sync }
    report(progress.sentence)
    if (systemClock.monotonicMs() >= endMs) return { outcome: lateOutcome(sync, progress.sentence, timeout), sync }
    await systemClock.wait(pollEveryMs, cluster.signal)
    try {
      sync = { ...projectGatewaySync(await readSync(cluster, sync.name)), context: cluster.context }
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'ApiUnavailable') throw error
      report('the cluster is temporarily unavailable')
    }
  }
}

/** Prints progress on a terminal, one line for each change; otherwise only the outcome is printed. */
function progressPrinter(output: Output): (sentence: string) => void {
  let last = ''
  return (sentence) => {
    if (!output.isTerminal || sentence === last) return
    last = sentence
    print(output, [`${markOf('working', output.style)}${sentence}`])
  }
}

/** The user name according to the API server; falls back if it does not report one. */
async function requestingUser({ kube, signal }: ClusterCommand): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const answer = await kube.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review, signal).catch(() => undefined)
  const user = (answer as Json<V1SelfSubjectReview> | undefined)?.status?.userInfo?.username
  return `cluster-sync: ${user ?? 'unknown user'}`.slice(0, 128)
}
