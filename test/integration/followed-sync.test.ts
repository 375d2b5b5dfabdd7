/**
 * The GatewaySync that an agent follows if its pod names none at first: the watch on a real API server, by the pod's current annotations.
 */
import t from 'tap'
import { watchSync } from '../../runtime/agent/watch-sync.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { podAnnotations } from '../../runtime/api/names.ts'
import { gatewaySyncType } from '../../runtime/kube/types.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { install } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

void t.test(
  'a pod without a named GatewaySync follows the only one, or the one its annotations name later',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const cluster = await install(t, ['plant'])
    // Stopped, so that only these GatewaySyncs cause events.
    await cluster.stopController()
    const { kube, signal } = cluster.world
    const namespace = cluster.namespace('plant')
    const create = (name: string) =>
      cluster.gatewaySync(namespace, name, {
        git: { repo: 'https://git.example.com/plant.git', ref: 'main' },
        sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'projects' }] } } },
      })
    let annotations: Record<string, string> = {}
    const seen: (string | undefined)[] = []
    const watch = watchSync(
      { kube, clock: systemClock, log: silentLog, observe: (followed) => void seen.push(followed?.uid) },
      { namespace, named: undefined, annotations: () => annotations },
    )
    watch.again(annotations)
    t.strictSame(seen, [], 'nothing is told before all were listed')
    await create('one')
    const stop = new AbortController()
    const running = watch.run(AbortSignal.any([signal, stop.signal]))
    await until(() => (watch.name() === 'one' ? true : undefined), 'the only one is followed')
    await create('two')
    await until(() => (watch.name() === undefined ? true : undefined), 'of two none is followed')
    const two = (await kube.get(gatewaySyncType, { namespace, name: 'two' }, signal))?.metadata.uid
    const before = seen.length
    watch.again(annotations)
    t.equal(seen.length, before, 'nothing has changed')
    annotations = { [podAnnotations.gatewaySync]: 'two' }
    watch.again(annotations)
    t.strictSame([watch.name(), seen.at(-1), seen.length], ['two', two, before + 1])
    stop.abort()
    await running
  },
)
