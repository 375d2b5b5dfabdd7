/**
 * Tests when a git host does not show an announced push yet, and what becomes of requests that later ones replace.
 */
import t from 'tap'
import { followedRef, type FollowedRef, type TagSelector } from '../../../../runtime/api/followed-ref.ts'
import { requestAnnotations, requestingEvents } from '../../../../runtime/api/names.ts'
import type { GatewaySyncStatus, RequestOutcome } from '../../../../runtime/api/schema/status.ts'
import { type CommitHash, parseCommitHash, parseRefName } from '../../../../runtime/api/values.ts'
import {
  answersSpec,
  desiredRef,
  type DesiredRef,
  digestAfter,
  freeRequestSlots,
  isBehind,
  isRecheck,
  isSameRef,
  isSpecRef,
  isTagEvent,
  moveText,
  parseRequest,
  resolvedRefOf,
  standingRef,
  supersededBy,
} from '../../../../runtime/reconcile/decide/request.ts'
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

const { ref: refKey, id: idKey, specRef: specRefKey, by: byKey, at: atKey, move: moveKey, superseded: supersededKey } = requestAnnotations
/** A request as the receiver writes it, which replaces an unanswered one. */
const pushed = {
  [refKey]: 'v2',
  [idKey]: 'r1',
  [specRefKey]: 'main',
  [byKey]: 'push',
  [atKey]: at,
  [moveKey]: `${commitA}..${commitB}`,
  [supersededKey]: 'r0=v1 r1=v2',
}
const digestOf = (annotations: Record<string, string>): string => {
  const parsed = parseRequest(annotations, {})
  return parsed.kind === 'none' ? parsed.kind : parsed.digest
}

void t.test('a request of the receiver is read with all of its annotations, and one by hand with its ref alone', async (t) => {
  const digest = digestOf(pushed)
  const [move, superseded] = [{ before: commitA, after: commitB }, [{ id: 'r0', ref: 'v1' }]]
  const request = { id: 'r1', ref: 'v2', specRef: 'main', by: 'push', at, move, superseded }
  t.strictSame(parseRequest(pushed, {}), { kind: 'request', request, digest, isDecided: false })
  const requests = [answered('r1', 'Handled')]
  t.strictSame(parseRequest(pushed, { requests, requestDigest: digest }), { kind: 'request', request, digest, isDecided: true })
  const byHand = { id: 'hand:v2', ref: 'v2', specRef: '', by: undefined, at: undefined, superseded }
  t.strictSame(
    parseRequest(pushed, { requests }),
    { kind: 'request', request: byHand, digest, isDecided: false },
    'its id belongs to an answered request',
  )
  const message = `annotation ${refKey} is not a ref that git accepts`
  const invalid = { ...pushed, [refKey]: 'a..b', [supersededKey]: '' }
  t.strictSame(parseRequest(invalid, {}), { kind: 'malformed', id: 'r1', message, digest: digestOf(invalid), isDecided: false })
})

void t.test('a changed or missing annotation is a new request, except for the move and the earlier requests', async (t) => {
  t.match(digestOf(pushed), /^[0-9a-f]{32}$/)
  for (const name of [idKey, specRefKey, byKey, atKey]) {
    const { [name]: _value, ...without } = pushed
    const digests = [pushed, { ...pushed, [name]: 'other' }, { ...pushed, [name]: '' }, without].map(digestOf)
    t.equal(new Set(digests).size, 4, name)
  }
  t.not(digestOf({ ...pushed, [refKey]: 'v3' }), digestOf(pushed))
  for (const name of [moveKey, supersededKey]) t.equal(digestOf({ ...pushed, [name]: '' }), digestOf(pushed), name)
})

void t.test('without an open request that names a move, a host is not behind', async (t) => {
  const main = parseRefName('main')
  const host = { name: 'refs/heads/main', commit: commitA, tag: undefined }
  const behind = (move: { before: string; after: string } | undefined, status: GatewaySyncStatus = {}, undecided = true) => {
    const request = { id: 'r1', ref: main, specRef: 'main', by: 'push', at, ...(move === undefined ? {} : { move }) }
    return isBehind({ ref: main, request, undecided }, host, status)
  }
  const move = { before: commitA, after: commitB }
  const followed: GatewaySyncStatus = { source: { ref: 'main', commit: commitA } }
  t.equal(behind(move), true)
  t.equal(behind(move, {}, false), false, 'it has an answer')
  t.equal(behind(undefined, followed), false, 'it names no move')
  t.equal(isBehind({ ref: main, request: undefined, undecided: false }, host, followed), false, 'there is no request')
  const unseen = { before: 'd'.repeat(40), after: commitB }
  t.equal(behind(unseen, followed), true, 'earlier pushes were not seen either')
  t.equal(behind(unseen, { source: { ref: 'main' } }), false, 'the followed commit is unknown')
})

void t.test('annotations that are malformed or full leave no open request or no place', async (t) => {
  t.equal(freeRequestSlots(requestOf('a..b', 'r1', {}), {}), 16)
  const entries = Array.from({ length: 17 }, (_, index) => `r${index}=main`).join(' ')
  t.equal(freeRequestSlots(requestOf('v2', 'new', { [supersededKey]: entries }), {}), 0)
})

void t.test('a followed request stays in force while the spec is the one that it saw', async (t) => {
  const requested = { ref: 'v1', id: 'r1', specRef: 'main', by: 'push', at }
  const standing = (specRef: string, change: Partial<typeof requested> = {}) =>
    standingRef(parseRefName(specRef), { source: { ref: 'v1', requested: { ...requested, ...change } } })
  const spec = { ref: 'main', request: undefined, undecided: false }
  t.strictSame(standing('main'), { ref: 'v1', request: requested, undecided: false })
  t.strictSame(standing('next'), { ...spec, ref: 'next' })
  const byHand = { ...requested, specRef: '' }
  t.strictSame(standing('next', byHand), { ref: 'v1', request: byHand, undecided: false }, 'a request by hand saw none')
  t.strictSame(standing('main', { ref: 'a..b' }), spec, 'a ref that git refuses')
  for (const status of [{}, { source: { ref: 'main' } }]) t.strictSame(standingRef(parseRefName('main'), status), spec)
})

void t.test('only tags that were pushed or released and are selected trigger a new resolution of the selector', async (t) => {
  t.strictSame([...requestingEvents, undefined, 'cli:operator'].filter(isTagEvent), ['tag-push', 'release'])
  const desiredFor = (specRef: FollowedRef, ref: string, by: string) =>
    desiredRef(specRef, requestOf(ref, 'r1', { [byKey]: by, [specRefKey]: specRef }), {}).ref
  const range: FollowedRef = 'semver:>=1.2,<2'
  t.equal(desiredFor(range, 'refs/tags/v1.3.0', 'tag-push'), range)
  t.equal(desiredFor(range, 'refs/tags/v1.3.0', 'release'), range)
  t.equal(desiredFor(range, 'refs/tags/v1.3.0', 'push'), 'refs/tags/v1.3.0')
  t.equal(desiredFor(range, 'refs/tags/v2.0.0', 'release'), 'refs/tags/v2.0.0', 'not selected')
  t.equal(desiredFor(parseRefName('main'), 'refs/tags/main', 'tag-push'), 'refs/tags/main', 'the spec has no selector')
})

void t.test('a request checks the desired ref again if it names it, or what it resolved to', async (t) => {
  const rechecks = (ref: string, standing: string, resolvedRef?: string) => {
    const of = (name: string): DesiredRef => ({ ref: name as FollowedRef, request: undefined, undecided: false })
    return isRecheck(of(ref), of(standing), { source: { ref: standing, ...(resolvedRef === undefined ? {} : { resolvedRef }) } })
  }
  const range = 'semver:>=1.2,<2'
  const rows: [ref: string, standing: string, resolvedRef: string | undefined, is: boolean][] = [
    ['main', 'main', undefined, true],
    ['refs/heads/main', 'main', 'refs/heads/main', true],
    ['refs/tags/main', 'main', 'refs/heads/main', false],
    ['refs/tags/main', 'main', undefined, true],
    ['main', 'refs/heads/main', undefined, true],
    ['next', 'main', 'refs/heads/main', false],
    [range, range, 'refs/tags/v1.4.0', true],
    ['v1.4.0', range, 'refs/tags/v1.4.0', true],
    ['v1.4.1', range, 'refs/tags/v1.4.0', false],
    ['HEAD', 'HEAD', 'refs/heads/main', true],
  ]
  for (const [ref, standing, resolvedRef, is] of rows)
    t.equal(rechecks(ref, standing, resolvedRef), is, `${ref} ${standing} ${resolvedRef}`)
})

void t.test('the full name of a ref is its own, or the one that it resolved to as a branch or tag', async (t) => {
  const resolved = (ref: string, source?: NonNullable<GatewaySyncStatus['source']>) =>
    resolvedRefOf(ref as FollowedRef, source === undefined ? {} : { source })
  t.equal(resolved('refs/heads/main'), 'refs/heads/main')
  t.equal(resolved('refs/heads/main', { ref: 'refs/heads/main', resolvedRef: 'refs/tags/main' }), 'refs/heads/main')
  t.equal(resolved('main', { ref: 'main', resolvedRef: 'refs/heads/main' }), 'refs/heads/main')
  t.equal(resolved('main', { ref: 'next', resolvedRef: 'refs/heads/next' }), undefined, 'another ref was resolved')
  t.equal(resolved('main', { ref: 'main' }), undefined)
  t.equal(resolved('main'), undefined)
  t.equal(resolved('v1', { ref: 'v1', resolvedRef: `v1@sha256:${'0'.repeat(64)}` }), undefined, 'a revision of an artifact')
})

void t.test('two names may mean the same ref if one is the short form of the other', async (t) => {
  const rows: [string, string, boolean][] = [
    ['main', 'main', true],
    ['main', 'refs/heads/main', true],
    ['main', 'refs/tags/main', true],
    ['refs/heads/main', 'refs/tags/main', false],
    ['main', 'next', false],
    ['refs/heads/main', 'next', false],
    ['pull/7/head', 'refs/pull/7/head', false],
  ]
  for (const [a, b, is] of rows) t.strictSame([isSameRef(a, b), isSameRef(b, a)], [is, is], `${a} ${b}`)
})

void t.test('the published commit answers the spec if it is of its repository, and of its ref or the followed request', async (t) => {
  const { repo } = specWith().git
  const published = (ref: string, more: object = {}) => ({ commit: commitA, ref, repo, at, ...more })
  const requested = { ref: 'v2', id: 'r1', specRef: 'main' }
  const rolled = (state: 'RolledBack' | 'Stopped', more: object = {}) => ({
    state,
    id: at,
    commit: commitB,
    configurations: {},
    startedAt: at,
    ...more,
  })
  const refused = { commit: commitB, ref: 'main', repo }
  const request = requestOf('v2', 'r1', { [specRefKey]: 'main' })
  const decided = { requestDigest: digestOf(request), source: { ref: 'v2', requested } }
  const rows: [string, Record<string, string>, GatewaySyncStatus, boolean][] = [
    ['nothing is published', {}, {}, false],
    ['the ref of the spec', {}, { published: published('main') }, true],
    ['its full name', {}, { published: published('refs/heads/main') }, true],
    ['another ref', {}, { published: published('next') }, false],
    ['another repository', {}, { published: published('main', { repo: 'https://git.example/other.git' }) }, false],
    ['a release before that field', {}, { published: published('main', { repo: undefined }) }, true],
    ['what selected its ref', {}, { published: published('refs/heads/next', { specRef: 'main' }) }, true],
    ['what selected its ref, of another spec', {}, { published: published('main', { specRef: 'HEAD' }) }, false],
    ['an open request', request, { published: published('main') }, true],
    ['an open request, not answered yet', request, { published: published('v2') }, false],
    ['a followed request', request, { ...decided, published: published('v2') }, true],
    ['a followed request, not published', request, { ...decided, published: published('main') }, false],
    ['a rollback from the ref', {}, { published: published('old'), rollout: rolled('RolledBack', { refused }) }, true],
    [
      'a rollback from another ref',
      {},
      { published: published('main'), rollout: rolled('RolledBack', { refused: { ...refused, ref: 'old' } }) },
      false,
    ],
    ['a rollback of an earlier release', {}, { published: published('main'), rollout: rolled('RolledBack') }, true],
    ['no rollback', {}, { published: published('old'), rollout: rolled('Stopped', { refused }) }, false],
  ]
  for (const [name, annotations, status, is] of rows) t.equal(answersSpec({ repo, ref: 'main' }, annotations, status), is, name)
})

void t.test('the digest of a request is stored once it has its final outcome', async (t) => {
  const after = (annotations: Record<string, string>, ...requests: RequestOutcome[]) =>
    digestAfter(annotations, { requestDigest: 'before' }, requests)
  t.equal(after({}, answered('r1', 'Handled')), undefined, 'without a request')
  t.equal(after(pushed), 'before')
  t.equal(after(pushed, answered('r1', 'Pending')), 'before')
  t.equal(after(pushed, answered('other', 'Handled')), 'before')
  t.equal(after(pushed, answered('other', 'Handled'), answered('r1', 'Handled')), digestOf(pushed))
  const malformed = { ...pushed, [refKey]: 'a..b', [supersededKey]: '' }
  t.equal(after(malformed, answered('r1', 'Handled')), digestOf(malformed))
})
