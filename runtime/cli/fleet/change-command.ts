/**
 * Writes what somebody asks for, as the controller reads it, and waits for what becomes of it.
 */
import { systemClock, timestamp } from '../../clock.ts'
import { Fault } from '../../fault.ts'
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
import { askPause, askRef, specRefOf } from '../../fleet/ask.ts'
import { askCapture, captureVerdict } from '../../fleet/capture-action.ts'
import { markOf } from '../../fleet/paint.ts'
import { rollbackTarget } from '../../fleet/rollback.ts'
import { actionVerdict, askRollout, type RolloutAsked } from '../../fleet/rollout-action.ts'
import type { RolloutVerb } from '../../gatewaysync/rollout/action.ts'
import { type GatewaySyncRecord, projectGatewaySync } from '../../reconcile/records.ts'
import { type Asking, asking } from './asking.ts'
import { exitNo, exitYes } from './exit.ts'
import type { ApproveOptions, CaptureRequestOptions, ChangeOptions, RequestOptions, RollbackOptions } from './options.ts'
import { type Output, print } from './output.ts'
import { patchSync, readSync } from './patch-sync.ts'

const lookEveryMs = 500

/** Each returns the exit code and throws NotFound, Forbidden, ApiUnavailable, InvalidConfiguration. */
export async function requestCommand(name: string, options: RequestOptions, output: Output): Promise<number> {
  return await asking(options, async (cluster) => {
    const id = systemClock.uuid()
    const who = { by: await whoAsks(cluster), at: timestamp(systemClock.now()) }
    const written = await patchSync(cluster, name, (record) => askRef(record, { ref: options.ref, id }, who))
    return await follow(cluster, written, { ...options, output }, (asked) => requestVerdict(asked, id))
  })
}

/** `pause` and `resume`: sets `spec.paused`; `resume` also takes up a rollout that has stopped. Returns the exit code. */
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

/** `capture` of gateways in a cluster: asks for it by annotation, and waits for the outcome where that is asked. Returns the exit code. */
export async function captureCommand(name: string, options: CaptureRequestOptions, output: Output): Promise<number> {
  const { gateway, timeout, format } = options
  return await asking(options, async (cluster) => {
    const by = await whoAsks(cluster)
    const asked = { id: `${timestamp(systemClock.now())}/${systemClock.uuid().slice(0, 8)}`, gateway }
    const written = await patchSync(cluster, name, (record) => ({ metadata: { annotations: askCapture(record, asked, by) } }))
    return await follow(cluster, written, { timeout, format, output }, (seen) => captureVerdict(seen, asked))
  })
}

/** `approve`: lets the rollout that waits go on to the next stage. Returns the exit code. */
export async function approveCommand(name: string, options: ApproveOptions, output: Output): Promise<number> {
  return await actOnRollout(name, { verb: 'approve', stage: options.stage }, { ...options, output })
}

/** Whoever aborts a rollout does not wait for its commit. */
export async function abortCommand(name: string, { timeout, format, ...options }: ChangeOptions, output: Output): Promise<number> {
  return await actOnRollout(name, { verb: 'abort' }, { ...options, wait: false, timeout, format, output })
}

async function actOnRollout(
  name: string,
  wanted: { verb: RolloutVerb; stage?: string | undefined },
  options: Omit<ChangeOptions, 'wait'> & Waiting,
): Promise<number> {
  return await asking(options, async (cluster) => {
    const who = { by: await whoAsks(cluster), at: timestamp(systemClock.now()) }
    const before = projectGatewaySync(await readSync(cluster, name))
    let asked = askRollout(before, wanted, who)
    const written = await patchSync(cluster, name, (record) => {
      asked = askRollout(record, wanted, who)
      return { metadata: { annotations: asked.annotations } }
    })
    return await follow(cluster, written, options, (seen) => actionVerdict(seen, asked))
  })
}

/** `rollback`: asks for the commit before, or for the one named, as a request. Returns the exit code. */
export async function rollbackCommand(name: string, options: RollbackOptions, output: Output): Promise<number> {
  return await asking(options, async (cluster) => {
    const before = projectGatewaySync(await readSync(cluster, name))
    const { ref, notes } = rollbackTarget({ ...before, specRef: specRefOf(before.spec) }, options.to)
    const written = await patchSync(cluster, name, () => ({ spec: { git: { ref } } }))
    return await follow(cluster, written, { ...options, output }, (asked) => refVerdict(asked, ref), notes)
  })
}

type Waiting = Pick<ChangeOptions, 'timeout' | 'format'> & { wait?: boolean; output: Output }

/** Waits for the outcome, and where that is asked for also until every gateway runs it; prints both. Returns the exit code. */
async function follow(
  cluster: Asking,
  written: GatewaySyncRecord,
  { wait, timeout, format, output }: Waiting,
  judge: (asked: Asked) => Verdict,
  notes: readonly string[] = [],
): Promise<number> {
  const endMs = systemClock.monotonicMs() + timeout
  const tell = format === 'json' ? () => undefined : teller(output)
  const told = (outcome: Outcome): number => {
    const { namespace, name } = written
    const all = { ...outcome, next: [...outcome.next, ...notes] }
    if (format === 'json') print(output, [JSON.stringify({ namespace, name, ...all }, undefined, 2)])
    else print(output, outcomeText(written, all, output.style))
    return outcome.done ? exitYes : exitNo
  }
  const { outcome, asked } = await untilEnded(cluster, written, judge, { endMs, timeout, tell })
  const { commit } = outcome
  if (wait !== true || !outcome.done || commit === undefined) return told(outcome)
  tell(outcome.message)
  const rollout = await untilEnded(cluster, asked, (asked) => rolloutVerdict(asked, commit), { endMs, timeout, tell })
  return told(rollout.outcome)
}

type Until = { endMs: number; timeout: number; tell: (sentence: string) => void }

/** Goes on from what was seen last. Looks again and again; an API server that is away for a moment is asked again. */
async function untilEnded(
  cluster: Asking,
  seen: Asked,
  judge: (asked: Asked) => Verdict,
  { endMs, timeout, tell }: Until,
): Promise<{ outcome: Outcome; asked: Asked }> {
  let asked = seen
  for (;;) {
    const verdict = judge(asked)
    if (verdict.kind === 'ended') return { outcome: verdict.outcome, asked }
    tell(verdict.sentence)
    if (systemClock.monotonicMs() >= endMs) return { outcome: lateOutcome(asked, verdict.sentence, timeout), asked }
    await systemClock.wait(lookEveryMs, cluster.signal)
    try {
      asked = projectGatewaySync(await readSync(cluster, asked.name))
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'ApiUnavailable') throw error
      tell('the cluster does not answer for a moment')
    }
  }
}

/** At a terminal, how far it is: one line for each change. Elsewhere only what came of it counts. */
function teller(output: Output): (sentence: string) => void {
  let last = ''
  return (sentence) => {
    if (!output.isTerminal || sentence === last) return
    last = sentence
    print(output, [`${markOf('working', output.style)}${sentence}`])
  }
}

/** Whose wish it is, as the API server knows them; nobody is refused because it does not say. */
async function whoAsks({ kube, signal }: Asking): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const answer = await kube.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review, signal).catch(() => undefined)
  const user = (answer as { status?: { userInfo?: { username?: string } } } | undefined)?.status?.userInfo?.username
  return `cluster-sync: ${user ?? 'somebody'}`.slice(0, 128)
}
