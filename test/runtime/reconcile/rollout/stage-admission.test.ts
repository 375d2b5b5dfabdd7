import t from 'tap'
import type { RolloutStatus } from '../../../../runtime/api/schema/rollout-status.ts'
import { admissionOf, isAdmitted, isWaiting, podHash, shortSyncHash } from '../../../../runtime/reconcile/rollout/stage-admission.ts'

const [old, next] = ['a'.repeat(40), 'b'.repeat(40)]
const at = '2026-01-01T00:00:00Z'
const syncHash = `v1-${'c'.repeat(64)}`
const base: RolloutStatus = {
  state: 'Progressing',
  id: at,
  commit: next,
  configurations: { default: shortSyncHash(syncHash) },
  startedAt: at,
  previous: { commit: old, ref: 'v1' },
  stage: 'test',
}
const published = { commit: next, ref: 'main', at }

type Given = { rollout?: Partial<RolloutStatus>; without?: true; profile?: string; syncHash?: string; inPlace?: object }

function admission({ rollout = {}, without, ...more }: Given) {
  const status = { published, ...(without === true ? {} : { rollout: { ...base, ...rollout } }) }
  return admissionOf(status, { pod: 'gw-0', profile: 'default', syncHash, inPlace: { commit: old, syncHash }, ...more })
}

void t.test('an agent applies what is published once its stage admits it, and keeps its commit until then', async (t) => {
  const go = { kind: 'go' }
  const wait = { kind: 'wait', keep: base.previous, stage: 'test' }
  const allowed = [podHash('gw-0')]
  const done = { state: 'Done' as const, previous: undefined, stage: undefined }
  const keepsPublished = { kind: 'wait', keep: published, stage: undefined }
  const rows: [string, Given, object][] = [
    ['not admitted', {}, wait],
    ['another pod is admitted', { rollout: { allowed: [podHash('gw-1')] } }, wait],
    ['admitted', { rollout: { allowed } }, go],
    ['all in place', { inPlace: { commit: next, syncHash } }, go],
    ['only the commit in place', { inPlace: { commit: next, syncHash: 'v1-old' } }, wait],
    ['only the configuration in place', { inPlace: { commit: old, syncHash } }, wait],
    ['an empty volume', { inPlace: undefined as never }, wait],
    ['no rollout yet', { without: true }, keepsPublished],
    ['a rollout of another commit', { rollout: { allowed, commit: old } }, wait],
    ['done', { rollout: done }, go],
    ['done with another configuration', { rollout: done, syncHash: `v1-${'d'.repeat(64)}` }, keepsPublished],
    ['admitted with another configuration', { rollout: { allowed }, syncHash: `v1-${'d'.repeat(64)}` }, wait],
    ['a profile that is not known', { rollout: { allowed }, profile: 'other' }, wait],
    ['an inherited name', { rollout: { allowed }, profile: 'toString' }, wait],
    ['rolled back, with the other commit', { rollout: { state: 'RolledBack' } }, go],
    ['rolled back, with another configuration', { rollout: { state: 'RolledBack' }, syncHash: `v1-${'d'.repeat(64)}` }, go],
    ['rolled back, with the commit', { rollout: { state: 'RolledBack' }, inPlace: { commit: next } }, wait],
    ['stopped', { rollout: { state: 'Stopped' } }, wait],
    ['stopped and admitted', { rollout: { state: 'Stopped', allowed } }, go],
  ]
  for (const [name, given, expected] of rows) t.strictSame(admission(given), expected, name)
})

void t.test('a gateway waits while a rollout is under way that has not admitted it', async (t) => {
  const states = ['Progressing', 'Stopped', 'Done', 'RolledBack'] as const
  const waiting = (allowed: string[] | undefined) =>
    states.map((state) => isWaiting({ ...base, state, ...(allowed === undefined ? {} : { allowed }) }, 'gw-0'))
  t.strictSame(waiting(undefined), [true, true, false, false])
  t.strictSame(waiting([podHash('gw-1')]), [true, true, false, false])
  t.strictSame(waiting([podHash('gw-0')]), [false, false, false, false])
  t.equal(isWaiting(undefined, 'gw-0'), false)
  const admitted = isAdmitted({ ...base, allowed: [podHash('gw-0')] })
  t.strictSame([admitted({ pod: 'gw-0' }), admitted({ pod: 'gw-1' }), isAdmitted(base)({ pod: 'gw-0' })], [true, false, false])
})

void t.test('marks and prefixes are short and distinguish', async (t) => {
  t.match(podHash('gw-0'), /^[\w-]{8}$/)
  t.equal(shortSyncHash(syncHash), `v1-${'c'.repeat(16)}`)
})
