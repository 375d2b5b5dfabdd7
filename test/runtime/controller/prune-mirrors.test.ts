import t from 'tap'
import { pruneMirrors } from '../../../runtime/controller/prune-mirrors.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import type { NamedSync } from '../../../runtime/reconcile/source/mirrors-of-syncs.ts'
import { Store } from '../../../runtime/reconcile/store/store.ts'
import { steppedClock } from '../../support/stepped-clock.ts'

void t.test('mirrors of the repositories in every GatewaySync are kept, even if the spec is otherwise invalid', async (t) => {
  const store = new Store(() => {})
  const add = (name: string, spec: unknown): boolean =>
    store.upsertSync({ namespace: 'plant', name, uid: name, resourceVersion: '1', generation: 1, annotations: {}, spec, status: {} })
  add('valid', { git: { repo: 'https://git.example/a.git', ref: 'main' } })
  add('invalid', { git: { repo: 'https://git.example/b.git' }, polling: 7 })
  for (const [index, spec] of [undefined, {}, { git: null }, { git: { repo: 3 } }].entries()) add(`empty-${index}`, spec)
  const kept: string[][] = []
  const stop = new AbortController()
  const { clock, step } = steppedClock()
  const mirrors = {
    async prune(syncs: readonly NamedSync[]) {
      kept.push(syncs.map(({ repo }) => repo))
      if (kept.length === 1) throw new Error('the disk is away')
    },
  }
  const running = pruneMirrors({ store, mirrors, clock, log: silentLog }, stop.signal)
  // The first run fails, and the next one is still made.
  await step()
  store.removeSync('plant', 'valid')
  await step()
  stop.abort()
  await running
  t.strictSame(kept, [
    ['https://git.example/a.git', 'https://git.example/b.git'],
    ['https://git.example/a.git', 'https://git.example/b.git'],
    ['https://git.example/b.git'],
  ])
})
