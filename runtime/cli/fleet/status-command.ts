/**
 * Reads the facts, builds the view and prints it: once, or again at each change.
 */
import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import type { FleetFacts } from '../../fleet/facts.ts'
import { fleetView } from '../../fleet/fleet-view.ts'
import { fleetText, syncText } from '../../fleet/status-text.ts'
import type { FleetView } from '../../fleet/view.ts'
import { stopSignal } from '../stop.ts'
import { inCluster, explainApiError } from './cluster.ts'
import { exitNo, exitYes } from './exit.ts'
import type { StatusOptions } from './options.ts'
import { type Output, print } from './output.ts'
import { onlyNamed, readCluster, readStandalone } from './read-fleet.ts'

/** Polling interval; three lists of a namespace are a small load for an API server. */
const pollEveryMs = 2_000
/** Clears the terminal and goes to its first line. */
const clear = '\u001b[2J\u001b[H'

/** Returns the exit code. Throws InvalidConfiguration, NotFound, Forbidden, ApiUnavailable, StateUnreadable. */
export async function statusCommand(name: string | undefined, options: StatusOptions, output: Output): Promise<number> {
  const { state, allNamespaces, format } = options
  const watch = options.watch === true
  const signal = watch ? stopSignal() : new AbortController().signal
  if (state !== undefined) {
    if (name !== undefined || allNamespaces === true || options.namespace !== undefined)
      throw new Fault('InvalidConfiguration', 'a standalone run has one GatewaySync: omit the name with --state')
    return await show(async () => readStandalone(state), true, { format, watch, server: '', output }, signal)
  }
  if (name !== undefined && allNamespaces === true)
    throw new Fault('InvalidConfiguration', 'a name belongs to one namespace: omit --all-namespaces or the name')
  return await inCluster(options, async ({ kube, server, namespace }) => {
    const read = async (): Promise<FleetFacts> => {
      const facts = await readCluster({ kube, namespace: allNamespaces === true ? undefined : namespace }, signal)
      return name === undefined ? facts : onlyNamed(facts, name, namespace)
    }
    return await show(read, name !== undefined, { format, watch, server, output }, signal)
  })
}

type Showing = Pick<StatusOptions, 'format'> & { watch: boolean; server: string; output: Output }

async function show(
  read: () => Promise<FleetFacts>,
  detailed: boolean,
  { format, watch, server, output }: Showing,
  signal: AbortSignal,
): Promise<number> {
  let shown: FleetView | undefined
  const poll = async (): Promise<void> => {
    const view = fleetView(await read(), systemClock.now())
    if (shown === undefined || output.isTerminal || !sameBut(shown, view)) write(view, detailed, { format, watch, output })
    shown = view
  }
  await poll().catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  while (watch && !signal.aborted) {
    await systemClock.wait(pollEveryMs, signal).catch(() => undefined)
    if (signal.aborted) break
    try {
      await poll()
    } catch (error) {
      if (signal.aborted) break
      const explained = explainApiError(error, server)
      if (!(explained instanceof Fault)) throw explained
      process.stderr.write(`cluster-sync: ${explained.message} (${explained.reason}); retrying\n`)
    }
  }
  return watch || shown?.ready === true ? exitYes : exitNo
}

/** Ignores ages. A terminal is repainted in any case, because they change. */
function sameBut(shown: FleetView, view: FleetView): boolean {
  return isDeepStrictEqual({ ...shown, at: '' }, { ...view, at: '' })
}

function write(view: FleetView, detailed: boolean, { format, watch, output }: Omit<Showing, 'server'>): void {
  if (format === 'json') return print(output, [watch ? JSON.stringify(view) : JSON.stringify(view, undefined, 2)])
  const now = systemClock.now()
  if (watch && output.isTerminal) output.write(clear)
  print(output, (detailed ? syncText : fleetText)(view, now, output.style))
}
