/**
 * Writes a request to a GatewaySync and waits for its outcome.
 */
import type { V1SelfSubjectReview } from '@kubernetes/client-node'
import { systemClock, timestamp } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import {
  type Asked,
  lateOutcome,
  type Outcome,
  outcomeText,
  pauseVerdict,
  refVerdict,
  requestVerdict,
  rolloutVerdict,
  type Verdict,
} from '../../fleet/action.ts'
import { askFollow, askPause, askRef, specRefOf, rollbackTarget } from '../../fleet/request-patch.ts'
import { askCapture, captureVerdict } from '../../fleet/capture-action.ts'
import { actionVerdict, askRollout, type RolloutAsked } from '../../fleet/rollout-action.ts'
import type { RolloutVerb } from '../../reconcile/rollout/action.ts'
import { type GatewaySyncRecord, projectGatewaySync } from '../../reconcile/store/records.ts'
import type { Json } from '../../kube/types.ts'
import type { ApproveOptions, CaptureRequestOptions, ChangeOptions, RequestOptions, RollbackOptions } from './options.ts'
import { type Output, print, exitNo, exitYes } from '../output/output.ts'
import { type Asking, asking, patchSync, readSync } from './cluster.ts'
import { markOf } from '../../fleet/terminal.ts'

const pollEveryMs = 500

/** Requests a ref. Returns the exit code. Throws NotFound, Forbidden, ApiUnavailable, InvalidConfiguration. */
export async function requestCommand(name: string, options: RequestOptions, output: Output): Promise<number> {
  return await asking(options, async (cluster) => {
    const id = systemClock.uuid()
    const who = { by: await whoAsks(cluster), at: timestamp(systemClock.now()) }
    const written = await patchSync(cluster, name, (record) => askRef(record, { ref: options.ref, id }, who))
    return await follow(cluster, written, { ...options, output }, (asked) => requestVerdict(asked, id))
  })
}

/** `pause` and `resume`: sets `spec.paused`; `resume` also resumes a stopped rollout. Returns the exit code. */
export async function pauseCommand(name: string, paused: boolean, options: ChangeOptions, output: Output): Promise<number> {
  return await asking(options, async (cluster) => {
    const who = { by: await whoAsks(cluster), at: timestamp(systemClock.now()) }
    let resumed: RolloutAsked | undefined
    const written = await patchSync(cluster, name, (record) => {
      const asked = askPause(record, paused, who)
      resumed = asked.resumed
      return asked.change
    })
    return await follow(
      cluster,
      written,
      paused ? { timeout: options.timeout, format: options.format, output } : { ...options, output },
      (asked) => {
        const verdict = pauseVerdict(asked, paused)
        return verdict.kind === 'waiting' || resumed === undefined ? verdict : actionVerdict(asked, resumed)
      },
    )
  })
}

/** `capture` for gateways in a cluster: requests it by annotation, and optionally waits for the outcome. Returns the exit code. */
export async function captureCommand(name: string, options: CaptureRequestOptions, output: Output): Promise<number> {
  const { only: gateway, timeout, format } = options
  return await asking(options, async (cluster) => {
    const by = await whoAsks(cluster)
    const asked = { id: `${timestamp(systemClock.now())}/${systemClock.uuid().slice(0, 8)}`, gateway }
    const written = await patchSync(cluster, name, (record) => ({ metadata: { annotations: askCapture(record, asked, by) } }))
    return await follow(cluster, written, { timeout, format, output }, (seen) => captureVerdict(seen, asked))
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
  return await asking(options, async (cluster) => {
    const who = { by: await whoAsks(cluster), at: timestamp(systemClock.now()) }
    const before = projectGatewaySync(await readSync(cluster, name))
    let asked = askRollout(before, action, who)
    const written = await patchSync(cluster, name, (record) => {
      asked = askRollout(record, action, who)
      return { metadata: { annotations: asked.annotations } }
    })
    return await follow(cluster, written, options, (seen) => actionVerdict(seen, asked))
  })
}

/** `rollback`: requests the previous commit, or the named one. Returns the exit code. */
export async function rollbackCommand(name: string, options: RollbackOptions, output: Output): Promise<number> {
  return await asking(options, async (cluster) => {
    const before = projectGatewaySync(await readSync(cluster, name))
    const target = rollbackTarget({ ...before, context: cluster.context, specRef: specRefOf(before.spec) }, options.to)
    const { ref, change } = askFollow(before, target.ref)
    const written = await patchSync(cluster, name, () => change)
    return await follow(cluster, written, { ...options, output }, (asked) => refVerdict(asked, ref), target.notes)
  })
}

type Waiting = Pick<ChangeOptions, 'timeout' | 'format'> & { wait?: boolean; output: Output }

/** Waits for the outcome, and optionally until every gateway runs the commit; prints both. Returns the exit code. */
async function follow(
  cluster: Asking,
  record: GatewaySyncRecord,
  { wait, timeout, format, output }: Waiting,
  verdictOf: (asked: Asked) => Verdict,
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
  const { outcome, asked } = await untilEnded(cluster, written, verdictOf, { endMs, timeout, report })
  const { commit } = outcome
  if (wait !== true || !outcome.done || commit === undefined) return printOutcome(outcome)
  report(outcome.message)
  const rollout = await untilEnded(cluster, asked, (asked) => rolloutVerdict(asked, commit), { endMs, timeout, report })
  return printOutcome(rollout.outcome)
}

type Until = { endMs: number; timeout: number; report: (sentence: string) => void }

/** Polls from the last seen state on; retries if the API server is unavailable for a moment. */
async function untilEnded(
  cluster: Asking,
  seen: Asked,
  verdictOf: (asked: Asked) => Verdict,
  { endMs, timeout, report }: Until,
): Promise<{ outcome: Outcome; asked: Asked }> {
  let asked = seen
  for (;;) {
    const verdict = verdictOf(asked)
    if (verdict.kind === 'ended') return { outcome: verdict.outcome, asked }
    report(verdict.sentence)
    if (systemClock.monotonicMs() >= endMs) return { outcome: lateOutcome(asked, verdict.sentence, timeout), asked }
    await systemClock.wait(pollEveryMs, cluster.signal)
    try {
      asked = { ...projectGatewaySync(await readSync(cluster, asked.name)), context: cluster.context }
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
async function whoAsks({ kube, signal }: Asking): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const answer = await kube.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review, signal).catch(() => undefined)
  const user = (answer as Json<V1SelfSubjectReview> | undefined)?.status?.userInfo?.username
  return `cluster-sync: ${user ?? 'unknown user'}`.slice(0, 128)
}
