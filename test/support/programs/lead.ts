/**
 * `lead.ts <kubeconfig> <namespace> <name>`: holds the Lease `leader` and, while it does, writes to the ConfigMap `work` every three
 * seconds.
 */
import { fenced } from '../../../runtime/controller/leadership.ts'
import { createLog } from '../../../runtime/platform/log/log.ts'
import { systemClock as clock } from '../../../runtime/platform/clock.ts'
import { createKube, loadKube } from '../../../runtime/kube/client.ts'
import { runWithLease } from '../../../runtime/kube/lease/run.ts'
import { configMapType } from '../world.ts'

const [kubeconfig = '', namespace = '', identity = ''] = process.argv.slice(2)
const kube = createKube(loadKube({ kubeconfig }), { clock, userAgent: identity })
const log = createLog({ level: 'info' })
await runWithLease(
  { kube, clock, log },
  { namespace, name: 'leader', identity, durationMs: 1_000_000, renewWithinMs: 900_000, address: '10.0.0.1:9445' },
  async (signal, confirm) => {
    const own = fenced(kube, confirm)
    for (let round = 0; !signal.aborted; round += 1) {
      await own
        .mergePatch(configMapType, { namespace, name: 'work' }, { data: { [identity]: String(round) } }, {}, signal)
        .catch(() => undefined)
      await clock.wait(3_000, signal).catch(() => undefined)
    }
  },
  new AbortController().signal,
)
