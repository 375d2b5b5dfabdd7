/**
 * Asks the agents of a cluster what was changed on their gateways, waits for what they tell, prints it, and has them forget it.
 */
import { systemClock, timestamp } from '../../clock.ts'
import { asFault, Fault } from '../../fault.ts'
import { askChanges, changesText, countOf, forgetChanges, type GatewayChanges, toldChanges } from '../../fleet/changes.ts'
import type { FleetFacts } from '../../fleet/facts.ts'
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
    const id = `${timestamp(systemClock.now())}/${systemClock.uuid().slice(0, 8)}`
    await patchSync(cluster, name, () => askChanges({ id, gateway: options.gateway }))
    let told: Awaited<ReturnType<typeof untilTold>>
    try {
      told = await untilTold(cluster, name, { id, ...options })
    } finally {
      await forget(cluster, name, id)
    }
    const { rows, facts } = told
    if (options.format === 'json') print(output, [JSON.stringify({ gateways: rows, notes: facts.notes }, undefined, 2)])
    else print(output, [...changesText(rows, output.style), ...facts.notes])
    if (rows.some(({ changes }) => changes !== undefined && countOf(changes) > 0)) return exitNo
    return rows.some(({ changes }) => changes === undefined) ? exitUnknown : exitYes
  })
}

type Asked = Pick<ChangesOptions, 'gateway' | 'timeout'> & { id: string }

/** Somebody else may ask at the same time: the answer to the later request is as good. */
async function untilTold(
  { kube, namespace, signal }: Asking,
  name: string,
  { id, gateway, timeout }: Asked,
): Promise<{ rows: GatewayChanges[]; facts: FleetFacts }> {
  const endMs = systemClock.monotonicMs() + timeout
  const ids = new Set([id])
  for (;;) {
    const facts = onlyNamed(await readCluster({ kube, namespace }, signal), name, namespace)
    const latest = facts.syncs.find((sync) => sync.name === name)?.annotations[changesAnnotations.at]
    if (latest !== undefined) ids.add(latest)
    const rows = toldChanges(facts, { ids, gateway }, systemClock.now())
    if (gateway !== undefined && rows.length === 0)
      throw new Fault('NotFound', `no gateway or pod "${gateway}" follows GatewaySync "${name}" in namespace "${namespace}"`)
    const isWaiting = rows.some(({ hasAgent, changes }) => hasAgent && changes === undefined)
    if (!isWaiting || systemClock.monotonicMs() >= endMs) return { rows, facts }
    await systemClock.wait(lookEveryMs, signal)
  }
}

/** Also after Ctrl-C. What remains in reports where it fails is what their readers were to see anyway. */
async function forget(cluster: Asking, name: string, id: string): Promise<void> {
  try {
    await patchSync({ ...cluster, signal: AbortSignal.timeout(forgetWithinMs) }, name, ({ annotations }) => forgetChanges(annotations, id))
  } catch (error) {
    const { message } = asFault(error)
    process.stderr.write(`cluster-sync: reports keep what was told until annotation ${changesAnnotations.at} is removed: ${message}\n`)
  }
}
