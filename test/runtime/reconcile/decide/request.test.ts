/**
 * Tests when a git host does not show an announced push yet, and what becomes of requests that later ones replace.
 */
import t from 'tap'
import { followedRef, type TagSelector } from '../../../../runtime/api/followed-ref.ts'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { type CommitHash, parseCommitHash, parseRefName } from '../../../../runtime/api/values.ts'
import {
  desiredRef,
  freeRequestSlots,
  isBehind,
  isSpecRef,
  moveText,
  parseRequest,
  supersededBy,
} from '../../../../runtime/reconcile/decide/request.ts'
import { recordAnswer, recordOverfull } from '../../../../runtime/reconcile/decide/request-outcomes.ts'
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

void t.test('the move of a push is written only if both commits are known', (t) => {
  t.equal(moveText({ before: commitA, after: commitB }), `${commitA}..${commitB}`)
  t.equal(moveText({ before: '', after: commitB }), undefined)
  t.equal(moveText({ before: commitA, after: 'main' }), undefined)
  t.equal(moveText(undefined), undefined)
  const moveOf = (text: string) => {
    const parsed = parseRequest(requestOf('main', 'r1', { [requestAnnotations.move]: text }), {})
    return parsed.kind === 'request' ? parsed.request.move : parsed.kind
  }
  const longest = 'e'.repeat(64)
  t.strictSame(moveOf(`${commitA}..${longest}`), { before: commitA, after: longest })
  const wrong = [
    '',
    'main',
    `${commitA}.${commitB}`,
    `x${commitA}..${commitB}`,
    `${commitA}..${commitB}x`,
    `${commitA.slice(1)}..${commitB}`,
  ]
  for (const text of wrong) t.equal(moveOf(text), undefined, text)
  t.end()
})

const at = '2026-01-01T00:00:00Z'
const answered = (id: string, outcome: 'Handled' | 'Pending') => ({ id, ref: 'main', outcome, at }) as const

void t.test('a new request names the open ones before it, oldest first, and takes one of 16 places', (t) => {
  const written = requestOf('main', 'r3', {})
  const open = requestOf('v2', 'r2', { [requestAnnotations.superseded]: 'r0=main r1=v1 r2=v2', [requestAnnotations.specRef]: 'main' })
  t.equal(supersededBy(written, {}, {}, []), 'r3=main')
  t.equal(supersededBy(written, open, {}, [{ id: 'other', ref: 'v9' }]), 'r0=main r1=v1 r2=v2 other=v9 r3=main')
  t.equal(supersededBy(written, open, { requests: [answered('r1', 'Handled')] }, []), 'r0=main r2=v2 r3=main')
  const parsed = parseRequest(open, {})
  const decided = parsed.kind === 'none' ? {} : { requestDigest: parsed.digest }
  t.equal(supersededBy(written, open, decided, []), 'r3=main', 'the annotations were handled')
  const { [requestAnnotations.ref]: _ref, ...withdrawn } = open
  t.equal(supersededBy(written, withdrawn, {}, []), 'r0=main r1=v1 r2=v2 r3=main', 'its annotations were removed')
  t.equal(freeRequestSlots({}, {}), 16)
  t.equal(freeRequestSlots(open, {}), 13)
  t.equal(freeRequestSlots(open, { requests: [answered('r1', 'Handled')] }), 14)
  t.equal(freeRequestSlots(open, decided), 16)
  t.end()
})

void t.test('of more than 8 waiting requests the oldest without a final outcome are superseded', (t) => {
  const superseded = Array.from({ length: 10 }, (_, index) => ({ id: `r${index}`, ref: 'main' }))
  const request = { id: 'r10', ref: 'main', superseded } as unknown as Parameters<typeof recordOverfull>[1]
  const outcomes = (requests: Parameters<typeof recordOverfull>[0]) =>
    recordOverfull(requests, request, at).map(({ id, outcome, message }) => `${id} ${outcome} ${message ?? ''}`)
  const why = 'later requests arrived before the git host answered'
  t.strictSame(outcomes([]), [`r0 Superseded ${why}`, `r1 Superseded ${why}`])
  t.strictSame(outcomes([answered('r0', 'Handled')]), ['r0 Handled ', `r1 Superseded ${why}`])
  t.strictSame(outcomes([answered('r0', 'Pending')]), [`r0 Superseded ${why}`, `r1 Superseded ${why}`])
  t.strictSame(outcomes([answered('other', 'Handled')]), ['other Handled ', `r0 Superseded ${why}`, `r1 Superseded ${why}`])
  t.strictSame(recordOverfull([], { ...request, superseded: [] }, at), [])
  t.end()
})

void t.test('an answer counts for earlier requests of the same ref, and supersedes those of others', (t) => {
  const request = {
    id: 'r2',
    ref: 'main',
    superseded: [
      { id: 'r0', ref: 'main' },
      { id: 'r1', ref: 'v1' },
    ],
  } as unknown as Parameters<typeof recordAnswer>[1]
  t.strictSame(
    recordAnswer([], request, { outcome: 'Refused', reason: 'RefNotFound', message: 'no such ref' }, at).map(({ at: _at, ...one }) => one),
    [
      { id: 'r0', ref: 'main', outcome: 'Refused', reason: 'RefNotFound', message: 'no such ref' },
      { id: 'r1', ref: 'v1', outcome: 'Superseded', message: 'a later request arrived before this one was handled' },
      { id: 'r2', ref: 'main', outcome: 'Refused', reason: 'RefNotFound', message: 'no such ref' },
    ],
  )
  t.end()
})

void t.test('the earlier requests that an annotation names are limited to its last 17, and their ids to 128 characters', async (t) => {
  const withdrawnOf = (text: string, status: GatewaySyncStatus = {}) => {
    const parsed = parseRequest({ [requestAnnotations.superseded]: text }, status)
    return parsed.kind === 'none' ? parsed.withdrawn : parsed.kind
  }
  const entries = Array.from({ length: 18 }, (_, index) => ({ id: `r${index}`, ref: 'main' }))
  t.strictSame(withdrawnOf(entries.map(({ id, ref }) => `${id}=${ref}`).join(' ')), entries.slice(1))
  t.strictSame(withdrawnOf('r1=main r2=main', { requests: [answered('r1', 'Handled'), answered('r2', 'Pending')] }), [
    { id: 'r2', ref: 'main' },
  ])
  const longest = 'i'.repeat(128)
  t.strictSame(withdrawnOf(`${longest}=a=b i${longest}=main =main x a..b=a..b r(=main r9=`), [{ id: longest, ref: 'a=b' }])
  t.strictSame(withdrawnOf(''), [])
  const parsed = parseRequest(requestOf('main', `${longest}i`, {}), {})
  t.equal(parsed.kind === 'request' ? parsed.request.id : parsed.kind, longest, 'a longer id is cut')
})

void t.test('an id that belongs to an earlier request for another ref is not the own one', async (t) => {
  const idOf = (ref: string, superseded: string) => {
    const parsed = parseRequest(requestOf(ref, 'r1', { [requestAnnotations.superseded]: superseded, [requestAnnotations.by]: 'push' }), {})
    return parsed.kind === 'request' ? [parsed.request.id, parsed.request.by, parsed.request.superseded] : parsed.kind
  }
  t.strictSame(idOf('main', 'r1=main'), ['r1', 'push', undefined])
  t.strictSame(idOf('main', 'r0=v1'), ['r1', 'push', [{ id: 'r0', ref: 'v1' }]])
  t.strictSame(idOf('v2', 'r1=main'), ['hand:v2', undefined, [{ id: 'r1', ref: 'main' }]], 'another ref was annotated by hand')
})

void t.test('a request without an id gets the first of its ref that has no outcome', (t) => {
  const idOf = (ref: string, ...known: string[]) => {
    const status = { requests: known.map((id) => answered(id, 'Handled')) }
    const parsed = parseRequest({ [requestAnnotations.ref]: ref }, status)
    return parsed.kind === 'request' ? parsed.request.id : parsed.kind
  }
  t.equal(idOf('refs/tags/v1.0_a-b'), 'hand:refs-tags-v1.0_a-b')
  t.equal(idOf('main', 'hand:main'), 'hand:main.2')
  t.equal(idOf('main', 'hand:main', 'hand:main.2', 'hand:other'), 'hand:main.3')
  const longest = `hand:${'v'.repeat(119)}`
  t.equal(idOf('v'.repeat(200)), longest, 'with space for a number')
  t.equal(idOf('v'.repeat(200), longest), `${longest}.2`)
  t.end()
})

void t.test('a new request keeps the last 16 of the open ones, and only those whose id can be written', async (t) => {
  const many = Array.from({ length: 17 }, (_, index) => ({ id: `r${index}`, ref: 'main' }))
  const kept = many.slice(1).map(({ id }) => `${id}=main`)
  t.equal(supersededBy(requestOf('v2', 'new', {}), {}, {}, many), [...kept, 'new=v2'].join(' '))
  t.equal(supersededBy(requestOf('v2', 'new', {}), {}, {}, [{ id: 'no id', ref: 'main' }]), 'new=v2')
  t.equal(supersededBy({}, {}, {}, []), '=')
})

void t.test('a request names the ref of the spec by its own or its resolved name', async (t) => {
  const status: GatewaySyncStatus = { source: { ref: 'main', resolvedRef: 'refs/heads/main' } }
  const rows: [string, string, GatewaySyncStatus, boolean][] = [
    ['main', 'main', {}, true],
    ['refs/heads/main', 'main', status, true],
    ['refs/tags/main', 'main', status, false],
    ['refs/heads/main', 'main', {}, false],
    ['refs/heads/main', 'main', { source: { ref: 'refs/heads/main' } }, true],
    ['refs/heads/other', 'main', status, false],
    ['main', 'refs/heads/main', {}, false],
    ['refs/heads/main', 'refs/heads/main', {}, true],
    ['v1', 'main', { source: { ref: 'v1' } }, false],
  ]
  for (const [ref, specRef, known, is] of rows) t.equal(isSpecRef(parseRefName(ref), parseRefName(specRef), known), is, `${ref} ${specRef}`)
})
