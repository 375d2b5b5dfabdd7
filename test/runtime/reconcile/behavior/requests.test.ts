/**
 * Tests how requests of webhooks and by annotation are answered over several reconciles, while the git host lags behind or has no such ref.
 */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { type CommitHash, parseCommitHash } from '../../../../runtime/api/values.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { matchObject } from '../../../support/assertions.ts'
import { commitA, commitB, condition, fullNameOf, requestFor, setUp, spec, synced } from '../../../support/reconciled-sync.ts'

/** A request as the receiver writes it. */
const webhook = (by: string, ref: string, move = '') => ({
  ...requestFor(ref),
  [requestAnnotations.by]: by,
  [requestAnnotations.move]: move,
})

const outcomes = (status: GatewaySyncStatus) => status.requests?.map(({ outcome, reason }) => [outcome, reason].filter(Boolean).join(' '))
const missing = new Fault('RefNotFound', 'the git host has no ref "refs/tags/v2"')

void t.test('a tag that appears on the git host after its webhook is retried, and the running commit stays', async (t) => {
  const { pass, answer, change, passUntilAsked, status, restart } = await synced()
  change({ annotations: webhook('release', 'refs/tags/v2') })
  await pass()
  for (const isRestarted of [false, true]) {
    await answer(missing)
    const { wakeAfterMs = Infinity } = await pass()
    t.ok(wakeAfterMs >= 500 && wakeAfterMs <= 2_000, `asked again in ${wakeAfterMs} ms`)
    t.strictSame(outcomes(status()), ['Pending RefNotFound'])
    t.match(status().requests?.[0]?.message, /^the git host has no ref "refs\/tags\/v2"; retried for two minutes since /)
    t.equal(status().lastHandledRequest, undefined)
    t.equal(condition(status(), 'Ready')?.status, 'True')
    t.strictSame([status().source?.ref, status().published?.commit], ['main', commitA])
    if (isRestarted) restart()
    await passUntilAsked()
  }
  await answer(commitB)
  await pass()
  t.strictSame(outcomes(status()), ['Handled'])
  t.strictSame([status().source?.ref, status().published?.commit], ['refs/tags/v2', commitB])
})

void t.test('with polling off, a push of the desired branch is retried while the git host answers without that branch', async (t) => {
  const { pass, answer, change, passUntilAsked, status } = await synced()
  change({ annotations: webhook('push', 'refs/heads/main', `${commitA}..${commitB}`) })
  await pass()
  // If a proxy or a login page replaces the answer of the host, git finds no ref in it.
  await answer(missing)
  await pass()
  t.strictSame([outcomes(status()), status().published?.commit], [['Pending RefNotFound'], commitA])
  await passUntilAsked()
  await answer(commitB)
  await pass()
  t.strictSame([outcomes(status()), status().published?.commit], [['Handled'], commitB])
})

void t.test('a webhook request is pending for two minutes at most, and a manual one is answered at once', async (t) => {
  for (const by of ['release', 'cli:operator']) {
    const { pass, answer, change, status } = await synced()
    change({ annotations: webhook(by, 'refs/tags/v2') })
    await pass()
    if (by === 'release') {
      const at = Temporal.Now.instant().subtract({ seconds: 121 }).toString({ smallestUnit: 'second' })
      change({ status: { ...status(), requests: [{ id: 'r1', ref: 'refs/tags/v2', outcome: 'Pending', at }] } })
    }
    await answer(missing)
    await pass()
    t.strictSame(outcomes(status()), ['Refused RefNotFound'], by)
    t.strictSame([status().source?.ref, status().published?.commit], ['main', commitA])
  }
})

void t.test('a push is pending until the git host shows it', async (t) => {
  const commitC = parseCommitHash('c'.repeat(40))
  const rows: [move: string, shown: CommitHash, expected: string][] = [
    [`${commitA}..${commitB}`, commitA, 'Pending PushNotVisible'],
    [`${commitA}..${commitB}`, commitB, 'Handled'],
    [`${commitA}..${commitB}`, commitC, 'Handled'],
    // The push before this one has not been seen either.
    [`${commitB}..${commitC}`, commitA, 'Pending PushNotVisible'],
    // A forced push back to the known commit.
    [`${commitB}..${commitA}`, commitA, 'Handled'],
    ['', commitA, 'Handled'],
    ['no..hashes', commitA, 'Handled'],
  ]
  for (const [move, shown, expected] of rows) {
    const { pass, answer, change, passUntilAsked, status } = await synced()
    change({ annotations: webhook('push', 'refs/heads/main', move) })
    await pass()
    await answer(shown)
    await pass()
    t.strictSame(outcomes(status()), [expected], `${move} while the host shows ${shown}`)
    t.equal(status().published?.commit, shown)
    if (expected === 'Handled') continue
    await passUntilAsked()
    await answer(commitC)
    await pass()
    t.strictSame([outcomes(status()), status().published?.commit], [['Handled'], commitC])
  }
})

void t.test('a moved tag is followed only once the git host shows the move', async (t) => {
  const { pass, answer, change, status } = await synced()
  change({ annotations: webhook('tag-push', 'refs/tags/v2', `${commitB}..${'c'.repeat(40)}`) })
  await pass()
  await answer(commitB)
  await pass()
  t.strictSame([outcomes(status()), status().source?.ref, status().published?.commit], [['Pending PushNotVisible'], 'main', commitA])
})

void t.test('with polling on, a requested ref is polled while it is followed', async (t) => {
  const polled = spec('main', { polling: { enabled: true, interval: '5s' } })
  const { pass, answer, change, host } = setUp({ spec: polled })
  await pass()
  await answer(commitA)
  await pass()
  change({ annotations: webhook('release', 'refs/tags/v2') })
  await pass()
  await answer(commitB)
  const { wakeAfterMs = Infinity } = await pass()
  t.ok(wakeAfterMs <= 5_500, `polled in ${wakeAfterMs} ms`)
  t.equal(host.at(-1)?.ref, 'refs/tags/v2')
})

void t.test('allowedRefs applies to the resolved ref: a short name of a kind that is not allowed is refused', async (t) => {
  const git = { repo: 'https://git.example/plant.git', allowedRefs: ['refs/tags/*'] }
  const rows: [specRef: string, asked: string, outcome: string][] = [
    ['main', 'v2', 'Handled'],
    ['main', 'refs/tags/v2', 'Handled'],
    ['main', 'stage', 'Refused RefNotAllowed'],
    ['main', 'refs/heads/stage', 'Refused RefNotAllowed'],
    ['main', 'refs/heads/main', 'Handled'],
    ['v1', 'refs/tags/v1', 'Handled'],
    ['v1', 'refs/heads/v1', 'Refused RefNotAllowed'],
  ]
  for (const [ref, asked, outcome] of rows) {
    const { pass, answer, change, host, status } = setUp({ spec: spec(ref, { git: { ...git, ref } }) })
    await pass()
    await answer(commitA)
    await pass()
    change({ annotations: { ...requestFor(asked), [requestAnnotations.specRef]: ref } })
    const before = host.length
    await pass()
    if (host.length > before) await answer(commitB)
    else await turn()
    await pass()
    const [request] = status().requests ?? []
    t.equal([request?.outcome, request?.reason].filter(Boolean).join(' '), outcome, `spec.git.ref ${ref}, request for ${asked}`)
    t.equal(status().source?.resolvedRef, outcome === 'Handled' ? fullNameOf(asked) : fullNameOf(ref))
  }
})

void t.test('a refused request does not change the conditions', async (t) => {
  const { pass, answer, change, status, host } = await synced()
  const before = status().conditions
  change({ annotations: requestFor('typo') })
  await pass()
  await answer(new Fault('RefNotFound', 'no such ref'))
  for (const when of ['when it is answered', 'while the git host is asked again']) {
    await pass()
    matchObject(t, status().requests, [{ id: 'r1', outcome: 'Refused', reason: 'RefNotFound' }], when)
    t.strictSame(status().conditions, before, when)
  }
  t.strictSame(
    host.map(({ ref }) => ref),
    ['main', 'typo', 'main'],
    'the ref from before is resolved at once',
  )
})

void t.test('with polling off, a push of a missing desired ref stays reported until the ref is back', async (t) => {
  const { pass, answer, change, status } = await synced()
  change({ annotations: requestFor('main') })
  await pass()
  await answer(new Fault('RefNotFound', 'no such ref'))
  for (const when of ['when it is answered', 'at each later pass']) {
    await pass()
    matchObject(t, status().requests, [{ id: 'r1', outcome: 'Refused', reason: 'RefNotFound' }], when)
    matchObject(t, condition(status(), 'Ready'), { status: 'False', reason: 'RefNotFound' }, when)
  }
  change({ annotations: requestFor('main', 'r2') })
  await pass()
  await answer(commitB)
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'True' })
  matchObject(t, status().published, { commit: commitB })
})
