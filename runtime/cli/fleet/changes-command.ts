/**
 * Asks the agents of a cluster what was changed on their gateways, waits for what they tell, prints it, and has them forget it.
 */
import { systemClock, timestamp } from '../../clock.ts'
import { asFault, Fault } from '../../fault.ts'
import {
  askAgain,
  askChanges,
  changesText,
  countOf,
  forgetChanges,
  type GatewayChanges,
  isAwaited,
  toldChanges,
} from '../../fleet/changes.ts'
import type { FleetFacts } from '../../fleet/facts.ts'
import { changesRequest } from '../../gatewaysync/decide/capture.ts'
import { changesAnnotations } from '../../gatewaysync/names.ts'
import { type Asking, asking } from './asking.ts'
import { exitNo, exitUnknown, exitYes } from './exit.ts'
import type { ChangesOptions } from './options.ts'
import { type Output, print } from './output.ts'
import { patchSync } from './patch-sync.ts'
import { onlyNamed, readCluster } from './read-fleet.ts'

const lookEveryMs = 500
const forgetWithinMs = 5_000

/**
 * Returns the exit code: 0 nothing was changed, 1 something was, 2 an agent has not said in time. Throws NotFound, Forbidden, ApiUnavailable.
 */
export async function changesCommand(name: string, options: ChangesOptions, output: Output): Promise<number> {
  return await asking(options, async (cluster) => {
    const own = new Set<string>()
    let told: Awaited<ReturnType<typeof untilTold>>
    try {
      const id = newId(own)
      await patchSync(cluster, name, () => askChanges({ id, gateway: options.gateway }))
      told = await untilTold(cluster, name, { own, ...options })
    } finally {
      await forget(cluster, name, own)
    }
    const { rows, facts } = told
    if (options.format === 'json') print(output, [JSON.stringify({ gateways: rows, notes: facts.notes }, undefined, 2)])
    else print(output, [...changesText(rows, output.style), ...facts.notes])
    if (rows.some(({ changes }) => changes !== undefined && countOf(changes) > 0)) return exitNo
    return rows.some(({ changes }) => changes === undefined) ? exitUnknown : exitYes
  })
}

/** What is asked for, and the ids that were asked by. */
type Asked = Pick<ChangesOptions, 'gateway' | 'timeout'> & { own: Set<string> }

/** An id that was not asked by before, which is one of the own from now on. */
function newId(own: Set<string>): string {
  const id = `${timestamp(systemClock.now())}/${systemClock.uuid().slice(0, 8)}`
  own.add(id)
  return id
}

/** Somebody else may ask at the same time: the answer to the later request is as good. */
async function untilTold(
  cluster: Asking,
  name: string,
  { own, gateway, timeout }: Asked,
): Promise<{ rows: GatewayChanges[]; facts: FleetFacts }> {
  const { kube, namespace, signal } = cluster
  const endMs = systemClock.monotonicMs() + timeout
  const others = new Set<string>()
  let rows: GatewayChanges[] = []
  for (;;) {
    const facts = onlyNamed(await readCluster({ kube, namespace }, signal), name, namespace)
    const annotations = facts.syncs.find((sync) => sync.name === name)?.annotations ?? {}
    const latest = changesRequest(annotations)
    if (latest !== undefined) others.add(latest.id)
    rows = toldChanges(facts, { ids: own.union(others), gateway, before: rows }, systemClock.now())
    if (gateway !== undefined && rows.length === 0)
      throw new Fault('NotFound', `no gateway or pod "${gateway}" follows GatewaySync "${name}" in namespace "${namespace}"`)
    if (!rows.some(isAwaited) || systemClock.monotonicMs() >= endMs) return { rows, facts }
    if (askAgain(rows, annotations, { id: '', gateway }) !== undefined) {
      const [id, awaited] = [newId(own), rows]
      await patchSync(cluster, name, (present) => askAgain(awaited, present.annotations, { id, gateway }))
    }
    await systemClock.wait(lookEveryMs, signal)
  }
}

/** Also after Ctrl-C. What remains in reports where it fails is what their readers were to see anyway. */
async function forget(cluster: Asking, name: string, own: ReadonlySet<string>): Promise<void> {
  try {
    await patchSync({ ...cluster, signal: AbortSignal.timeout(forgetWithinMs) }, name, ({ annotations }) => forgetChanges(annotations, own))
  } catch (error) {
    const { reason, message } = asFault(error)
    // Without it nobody is asked.
    if (reason === 'NotFound') return
    process.stderr.write(
      `cluster-sync: reports keep what was told for ten minutes, or until annotation ${changesAnnotations.at} is removed: ${message}\n`,
    )
  }
}
