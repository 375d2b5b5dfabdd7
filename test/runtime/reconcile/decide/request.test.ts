/**
 * Tests when a git host does not show an announced push yet.
 */
import t from 'tap'
import { followedRef, type TagSelector } from '../../../../runtime/api/followed-ref.ts'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { type CommitHash, parseCommitHash } from '../../../../runtime/api/values.ts'
import { desiredRef, isBehind } from '../../../../runtime/reconcile/decide/request.ts'
import { specWith } from '../../../support/gatewaysync.ts'

const commitA = parseCommitHash('a'.repeat(40))
const commitB = parseCommitHash('b'.repeat(40))

const requestOf = (ref: string, id: string, more: Record<string, string>) => ({
  [requestAnnotations.ref]: ref,
  [requestAnnotations.id]: id,
  ...more,
})

void t.test('a host is behind a push until it shows the commit after it, or one that nobody announced', async (t) => {
  const move = { [requestAnnotations.move]: `${commitA}..${commitB}` }
  const desired = desiredRef(followedRef(specWith({}).git), requestOf('refs/heads/main', 'push', move), {})
  const [tagObject, unknown] = [parseCommitHash('c'.repeat(40)), parseCommitHash('d'.repeat(40))]
  const isBehindAt = (commit: string, status: GatewaySyncStatus = {}, tag?: string) =>
    isBehind(desired, { name: 'refs/heads/main', commit, tag }, status)
  const source = (commit: CommitHash): GatewaySyncStatus => ({ source: { ref: 'refs/heads/main', commit } })
  t.equal(isBehindAt(commitA), true, 'the commit before the push')
  t.equal(isBehindAt(commitB), false, 'the commit after it')
  t.equal(isBehindAt(commitB, source(commitB)), false, 'the commit after it, which is followed already')
  t.equal(isBehindAt(unknown), false, 'another commit')
  t.equal(isBehindAt(unknown, source(unknown)), true, 'the followed commit')
  t.equal(isBehindAt(unknown, { source: { ref: 'refs/heads/other', commit: unknown } }), false, 'the followed commit of another ref')
  t.equal(isBehindAt(unknown, {}, commitA), true, 'the tag object before the push')
  t.equal(isBehindAt(tagObject, source(tagObject), commitB), false, 'the tag object after it')
})

void t.test('a host that does not list a newer pushed tag yet is behind; for an older tag it is not', async (t) => {
  const spec = specWith({ git: { repo: 'https://git.example/plant.git', semver: '>=1.2 <2' } })
  const behind = (pushed: string, name: string) => {
    const by = { [requestAnnotations.by]: 'tag-push', [requestAnnotations.specRef]: 'semver:>=1.2,<2' }
    const desired = desiredRef(followedRef(spec.git), requestOf(`refs/tags/${pushed}`, 'push', by), {})
    return isBehind(desired, { name: `refs/tags/${name}`, commit: commitA, tag: undefined }, {})
  }
  t.equal(behind('v1.5.0', 'v1.4.0'), true)
  t.equal(behind('v1.5.0', 'v1.5.0'), false)
  t.equal(behind('v1.3.9', 'v1.4.0'), false)
  for (const selector of ['tagPattern:*', 'semver:>=1.2,<2']) {
    const by = { [requestAnnotations.by]: 'generic', [requestAnnotations.specRef]: selector }
    const desired = desiredRef(selector as TagSelector, requestOf(selector, 'push', by), {})
    t.equal(isBehind(desired, { name: 'refs/tags/9', commit: commitA, tag: undefined }, {}), false, `a call without a tag, ${selector}`)
  }
})
