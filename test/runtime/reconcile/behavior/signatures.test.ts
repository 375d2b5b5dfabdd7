/**
 * Tests what a reconcile publishes and reports while `spec.git.verify` requires a signature.
 */
import t from 'tap'
import { matchObject } from '../../../support/assertions.ts'
import { commitA, commitB, condition, requestFor, spec, synced } from '../../../support/reconciled-sync.ts'

const verifying = (ref = 'main') => spec(ref, { git: { ...spec(ref).git, verify: { mode: 'Commit', secretRef: { name: 'keys' } } } })

void t.test('a commit without the required signature is held and reported, and the published one stays', async (t) => {
  const { pass, answer, change, status, sign, restart } = await synced()
  change({ generation: 2, spec: verifying() })
  sign({ kind: 'refused', why: `commit ${commitB} is not signed` })
  await pass()
  await answer(commitB)
  for (const when of ['at once', 'a pass later', 'after a restart']) {
    if (when === 'after a restart') restart()
    await pass()
    for (const type of ['Ready', 'SourceReady'])
      matchObject(
        t,
        condition(status(), type),
        { status: 'False', reason: 'NotVerified', message: `commit ${commitB} is not signed` },
        when,
      )
    matchObject(t, condition(status(), 'Stalled'), { status: 'True', reason: 'NotVerified' }, when)
    matchObject(t, condition(status(), 'CollectionsValid'), { status: 'Unknown' }, `${when}: nothing of it was checked`)
    matchObject(t, status().source, { commit: commitB, held: 'NotVerified' }, when)
    matchObject(t, status().published, { commit: commitA }, when)
    matchObject(
      t,
      status().history?.map(({ commit, outcome }) => `${outcome} ${commit}`),
      [`Refused ${commitB}`, `Published ${commitA}`],
      `${when}: told once`,
    )
  }
})

void t.test('a request for an unverified commit is refused and changes nothing', async (t) => {
  const { pass, answer, change, status, sign } = await synced()
  change({ generation: 2, spec: verifying() })
  sign({ kind: 'verified', commit: { key: 'AB12', by: 'Ann' } })
  await pass()
  await answer(commitA)
  await pass()
  matchObject(t, status().source, { commit: commitA, verified: { commit: { key: 'AB12', by: 'Ann' } } })
  sign({ kind: 'refused', why: 'no' })
  change({ annotations: requestFor('v2') })
  await pass()
  await answer(commitB)
  await pass()
  matchObject(t, status().requests, [{ id: 'r1', outcome: 'Refused', reason: 'NotVerified' }])
  matchObject(t, status().published, { commit: commitA })
  matchObject(t, condition(status(), 'Ready'), { status: 'True' })
})

void t.test('a commit is published with its signer, and resolved again when the Secret changes', async (t) => {
  const { pass, answer, change, status, sign, changeSecret, host } = await synced()
  change({ generation: 2, spec: verifying() })
  sign({ kind: 'verified', commit: { key: 'AB12', by: 'Ann' } })
  await pass()
  await answer(commitB)
  await pass()
  matchObject(t, status().published, { commit: commitB })
  matchObject(t, status().history?.[0], { commit: commitB, outcome: 'Published', signedBy: 'AB12' })
  matchObject(t, condition(status(), 'Ready'), { status: 'True' })
  const asked = host.length
  await pass()
  t.equal(host.length, asked, 'polling is off')
  changeSecret()
  sign({ kind: 'refused', why: 'the key is gone' })
  await pass()
  t.equal(host.length, asked + 1)
  matchObject(t, condition(status(), 'Ready'), { status: 'Unknown', reason: 'Pending' }, 'nobody knows yet')
  await answer(commitB)
  await pass()
  matchObject(t, condition(status(), 'Ready'), { status: 'False', reason: 'NotVerified' })
  matchObject(t, status().published, { commit: commitB }, 'gateways keep what they have')
  t.equal(status().source?.verified, undefined)
})
