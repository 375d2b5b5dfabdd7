import t from 'tap'
import { AgentBindings, type RoleBinding } from '../../../../runtime/controller/lead/agent-bindings.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import type { PodRecord } from '../../../../runtime/reconcile/store/records.ts'
import { steppedClock } from '../../../support/stepped-clock.ts'
import { until } from '../../../support/world.ts'

const tenMinutesMs = 600_000

const podOf = (serviceAccount: string, uid = `uid-${serviceAccount}`): PodRecord =>
  ({ namespace: 'plant', name: `gw-${serviceAccount}`, uid, serviceAccount, terminating: false }) as unknown as PodRecord

void t.test('a namespace is bound when its pods change, and again every ten minutes in case the binding was removed', async (t) => {
  const { clock, step } = steppedClock()
  const applied: RoleBinding[] = []
  const removed: string[] = []
  let pods = [podOf('a')]
  let asked = 0
  const bindings = new AgentBindings({
    role: 'agents',
    pods() {
      asked += 1
      return pods
    },
    apply: async (binding) => void applied.push(binding),
    remove: async (namespace, name) => void removed.push(`${namespace}/${name}`),
    bound: async () => [],
    clock,
    log: silentLog,
  })
  const stop = new AbortController()
  const running = bindings.run(stop.signal)
  const appliedTimes = (count: number) => until(() => (applied.length === count ? true : undefined), `applied ${count} times`)
  bindings.changed('plant')
  await appliedTimes(1)
  bindings.changed('plant')
  pods = [podOf('a'), podOf('b')]
  bindings.changed('plant')
  await appliedTimes(2)
  t.strictSame(
    applied.at(-1)?.subjects.map(({ name }) => name),
    ['a', 'b'],
  )
  await step(tenMinutesMs)
  await appliedTimes(3)
  t.strictSame(applied[2], applied[1])
  pods = []
  const before = asked
  bindings.changed('plant')
  await until(() => (asked > before ? true : undefined), 'the pods are looked at')
  t.equal(applied.length, 3, 'nobody is left to bind')
  t.strictSame(removed, [], 'a pod that is recreated finds its binding')
  // The step has no further wait, so it settles only after the next change.
  const later = step(tenMinutesMs)
  await until(() => (removed.length > 0 ? true : undefined), 'the binding is removed')
  t.strictSame(removed, ['plant/agents'])
  pods = [podOf('a')]
  bindings.changed('plant')
  await appliedTimes(4)
  await later
  stop.abort(new Error('stop'))
  await running
})

void t.test('each new pod gets its binding, even in a recreated namespace, and known pods cause no write', async (t) => {
  const { clock } = steppedClock()
  let [pods, asked, applied] = [[podOf('a', '1')], 0, 0]
  const bindings = new AgentBindings({
    role: 'agents',
    pods() {
      asked += 1
      return pods
    },
    apply: async () => void (applied += 1),
    remove: async () => void t.fail('its time has not come'),
    bound: async () => [],
    clock,
    log: silentLog,
  })
  const stop = new AbortController()
  const running = bindings.run(stop.signal)
  const rows: [string, PodRecord[], number][] = [
    ['the first pod', [podOf('a', '1')], 1],
    ['nothing new', [podOf('a', '1')], 1],
    ['a second pod of the same account', [podOf('a', '1'), podOf('a', '2')], 2],
    ['one of them goes', [podOf('a', '2')], 2],
    ['a namespace that was made anew between two looks', [podOf('a', '3')], 3],
    ['the last pod goes', [], 3],
    ['the same pod, whose watch was away', [podOf('a', '3')], 4],
  ]
  for (const [name, present, count] of rows) {
    pods = present
    const before = asked
    bindings.changed('plant')
    await until(() => (asked > before ? true : undefined), 'the pods are looked at')
    // A round that writes does so before the next one starts.
    bindings.changed('plant')
    await until(() => (asked > before + 1 ? true : undefined), 'the pods are looked at again')
    t.equal(applied, count, name)
  }
  stop.abort(new Error('stop'))
  await running
})

void t.test('a binding with another role is recreated', async (t) => {
  const { clock } = steppedClock()
  const calls: string[] = []
  const bindings = new AgentBindings({
    role: 'agents',
    pods: () => [podOf('a')],
    async apply() {
      calls.push('apply')
      if (!calls.includes('remove')) throw new Fault('Rejected', 'roleRef is immutable')
    },
    remove: async () => void calls.push('remove'),
    bound: async () => [],
    clock,
    log: silentLog,
  })
  const stop = new AbortController()
  const running = bindings.run(stop.signal)
  bindings.changed('plant')
  await until(() => (calls.length === 3 ? true : undefined), 'the binding is written')
  t.strictSame(calls, ['apply', 'remove', 'apply'])
  stop.abort(new Error('stop'))
  await running
})

void t.test('a binding of an earlier leader in a namespace without gateway pods is removed after ten minutes', async (t) => {
  const { clock, step } = steppedClock()
  const removed: string[] = []
  let asked = 0
  const bindings = new AgentBindings({
    role: 'agents',
    pods() {
      asked += 1
      return []
    },
    apply: async () => void t.fail('there is nobody to bind'),
    remove: async (namespace, name) => void removed.push(`${namespace}/${name}`),
    bound: async (name) => [`gone-of-${name}`],
    clock,
    log: silentLog,
  })
  const stop = new AbortController()
  const running = bindings.run(stop.signal)
  await until(() => (asked > 0 ? true : undefined), 'the pods are looked at')
  t.strictSame(removed, [])
  const later = step(tenMinutesMs)
  await until(() => (removed.length > 0 ? true : undefined), 'the binding is removed')
  t.strictSame(removed, ['gone-of-agents/agents'])
  bindings.changed('another')
  await later
  stop.abort(new Error('stop'))
  await running
})
