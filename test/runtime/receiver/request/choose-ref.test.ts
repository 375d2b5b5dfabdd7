/**
 * Tests which ref of a call is requested, and under which name.
 */
import t from 'tap'
import { requestAnnotations } from '../../../../runtime/api/names.ts'
import { type FullRef, parseRefName } from '../../../../runtime/api/values.ts'
import type { Event } from '../../../../runtime/receiver/payload/parts.ts'
import { chooseRef, type ReceiverTarget, targetOf } from '../../../../runtime/receiver/request/choose-ref.ts'

const asked = (ref: string, event: Event) => ({ ref: parseRefName(ref), event })
const target = (desiredRef: string, resolvedRef?: `refs/${string}`, allowedRefs?: readonly string[]): ReceiverTarget => ({
  specRef: 'main',
  desiredRef,
  resolvedRef: resolvedRef as FullRef | undefined,
  allowedRefs,
})

void t.test('the requested ref is the one that the sender named', async (t) => {
  const rows: [string, Event, ReceiverTarget, string][] = [
    ['refs/heads/main', 'push', target('main', 'refs/heads/main'), 'refs/heads/main'],
    ['refs/heads/main', 'push', target('refs/heads/main', 'refs/heads/main'), 'refs/heads/main'],
    ['refs/tags/v2.0', 'release', target('main', 'refs/heads/main'), 'refs/tags/v2.0'],
    ['refs/tags/v2.0', 'promotion', target('main', 'refs/heads/main'), 'refs/tags/v2.0'],
    ['refs/tags/v2.0', 'generic', target('main', 'refs/heads/main'), 'refs/tags/v2.0'],
    ['v2.0', 'generic', target('main', 'refs/heads/main'), 'v2.0'],
    ['refs/tags/v2.0', 'tag-push', target('main', 'refs/heads/main', ['v*']), 'refs/tags/v2.0'],
    ['refs/tags/v2.0', 'tag-push', target('v2.0', 'refs/tags/v2.0'), 'refs/tags/v2.0'],
    ['main', 'generic', target('main', 'refs/heads/main'), 'main'],
  ]
  for (const [ref, event, of, expected] of rows)
    t.strictSame(chooseRef(asked(ref, event), of), asked(expected, event), `${event} of ${ref}`)
})

void t.test('a branch named like the desired tag, or a tag named like the desired branch, is another ref', async (t) => {
  t.strictSame(chooseRef(asked('refs/heads/v1', 'push'), target('v1', 'refs/tags/v1')), { why: 'OtherBranch' })
  t.strictSame(chooseRef(asked('refs/tags/main', 'tag-push'), target('main', 'refs/heads/main')), { why: 'OtherTag' })
  t.strictSame(chooseRef(asked('refs/heads/v1', 'generic'), target('v1', 'refs/tags/v1', ['refs/tags/*'])), { why: 'RefNotAllowed' })
})

void t.test('a desired short name of unknown kind is requested as written', async (t) => {
  t.strictSame(chooseRef(asked('refs/heads/v1', 'push'), target('v1')), asked('v1', 'push'))
  t.strictSame(chooseRef(asked('refs/heads/v1', 'push'), target('refs/tags/v1')), { why: 'OtherBranch' })
})

void t.test('with a tag range in the spec, only pushed or released tags within the range are requested', async (t) => {
  const of: ReceiverTarget = { ...target('semver:>=1.2,<2', 'refs/tags/v1.2.0'), specRef: 'semver:>=1.2,<2' }
  for (const event of ['tag-push', 'release'] as const) {
    t.strictSame(chooseRef(asked('refs/tags/v1.5.0', event), of), asked('refs/tags/v1.5.0', event))
    t.strictSame(chooseRef(asked('refs/tags/v2.0.0', event), of), { why: 'OtherTag' })
    const pinned = { ...of, desiredRef: 'refs/tags/v1.3.0', allowedRefs: ['**'] }
    t.strictSame(chooseRef(asked('refs/tags/v2.0.0', event), pinned), { why: 'OtherTag' }, 'while another ref is followed')
  }
  t.strictSame(chooseRef(asked('refs/heads/v1.5.0', 'push'), of), { why: 'OtherBranch' })
  t.strictSame(chooseRef(asked('refs/tags/v1.3.0', 'generic'), of), asked('refs/tags/v1.3.0', 'generic'))
  const restricted = { ...of, allowedRefs: ['refs/tags/v1.4.*'] }
  t.strictSame(chooseRef(asked('refs/tags/v1.3.0', 'generic'), restricted), { why: 'RefNotAllowed' }, 'a tag that was not pushed now')
  const together = { ...asked('refs/tags/v1.4.0', 'tag-push'), others: [asked('refs/tags/v1.10.0', 'tag-push')] }
  t.strictSame(chooseRef(together, of), asked('refs/tags/v1.10.0', 'tag-push'), 'the newest of several')
})

void t.test('a push of the default branch is requested as HEAD, so that it survives a change of the default branch', async (t) => {
  const of = { ...target('HEAD', 'refs/heads/main'), specRef: 'HEAD' }
  t.strictSame(chooseRef(asked('refs/heads/main', 'push'), of), asked('HEAD', 'push'))
})

void t.test('with ref HEAD, a push of any possible default branch is requested', async (t) => {
  const move = { before: 'a'.repeat(40), after: 'b'.repeat(40) }
  const repository = (branch?: string) => ({
    urls: ['https://git.example/plant.git'],
    path: undefined,
    ignoresCase: true,
    ...(branch === undefined ? {} : { defaultBranch: branch }),
  })
  const rows: [string, string | undefined, `refs/${string}` | undefined, 'with its move' | 'without its move' | 'not'][] = [
    ['refs/heads/main', undefined, 'refs/heads/main', 'with its move'],
    ['refs/heads/main', undefined, undefined, 'without its move'],
    ['refs/heads/dev', undefined, 'refs/heads/main', 'without its move'],
    ['refs/heads/main', 'main', undefined, 'with its move'],
    ['refs/heads/dev', 'refs/heads/dev', 'refs/heads/main', 'with its move'],
    ['refs/heads/main', 'dev', 'refs/heads/main', 'without its move'],
    ['refs/heads/other', 'main', 'refs/heads/main', 'not'],
    ['refs/heads/other', 'main', undefined, 'not'],
    ['refs/pull/7/head', undefined, undefined, 'not'],
  ]
  for (const [ref, named, resolvedRef, expected] of rows) {
    const of = { ...target('HEAD', resolvedRef), specRef: 'HEAD' }
    const sent = { ...asked(ref, 'push'), move, repository: repository(named) }
    const { move: _move, ...withoutMove } = { ...sent, ref: 'HEAD' }
    const result = expected === 'not' ? { why: 'OtherBranch' } : expected === 'with its move' ? { ...withoutMove, move } : withoutMove
    t.strictSame(chooseRef(sent, of), result, `${ref}, default branch ${named}, resolved ${resolvedRef}`)
  }
  const of = { ...target('HEAD', 'refs/heads/main'), specRef: 'HEAD' }
  const together = { ...asked('refs/heads/dev', 'push'), others: [{ ...asked('refs/heads/main', 'push'), move }] }
  t.strictSame(chooseRef(together, of), { ...asked('HEAD', 'push'), move }, 'the known default branch counts before others')
})

void t.test('refs of another repository do not count, unless the GatewaySync has none', async (t) => {
  const named = (name: string) => ({ urls: [`https://git.example/${name}.git`], path: undefined, ignoresCase: true })
  const push = (name: string) => ({ ...asked('refs/heads/main', 'push'), repository: named(name) })
  const any = target('main', 'refs/heads/main')
  const of = { ...any, repository: 'https://git.example/plant.git' }
  t.strictSame(chooseRef(push('other'), of), { why: 'OtherRepository' })
  t.strictSame(chooseRef({ ...push('other'), others: [push('plant')] }, of), push('plant'))
  t.strictSame(chooseRef(push('other'), any), push('other'))
  t.strictSame(chooseRef(asked('refs/heads/main', 'push'), of), asked('refs/heads/main', 'push'), 'a call that names none')
})

void t.test('of refs that are not the desired one, the first that may be requested is chosen', async (t) => {
  const of = target('main', 'refs/heads/main', ['refs/tags/v*'])
  const together = (...[first, ...others]: [string, ...string[]]) => ({
    ...asked(first, 'tag-push'),
    others: others.map((ref) => asked(ref, 'tag-push')),
  })
  t.strictSame(chooseRef(together('refs/tags/x', 'refs/tags/v1', 'refs/tags/v2'), of), asked('refs/tags/v1', 'tag-push'))
  t.strictSame(chooseRef(together('refs/tags/x', 'refs/tags/y'), of), { why: 'RefNotAllowed' })
  t.strictSame(chooseRef({ ...asked('refs/heads/other', 'push'), others: [asked('refs/tags/x', 'tag-push')] }, of), { why: 'OtherBranch' })
})

void t.test('only the push of a branch is taken for one of the default branch', async (t) => {
  const of = { ...target('HEAD', undefined, ['v*']), specRef: 'HEAD' }
  t.strictSame(chooseRef(asked('refs/heads/main', 'generic'), of), { why: 'RefNotAllowed' })
})

void t.test('of refs that are equally good, the first is chosen', async (t) => {
  const first = { ...asked('refs/heads/main', 'push'), move: { before: 'a'.repeat(40), after: 'b'.repeat(40) } }
  t.strictSame(chooseRef({ ...first, others: [asked('refs/heads/main', 'push')] }, target('main', 'refs/heads/main')), first)
  const selector: ReceiverTarget = { ...target('semver:>=1', 'refs/tags/v1.2.0'), specRef: 'semver:>=1' }
  const older = asked('refs/tags/v1.4.0', 'tag-push')
  t.strictSame(chooseRef({ ...asked('refs/tags/v1.10.0', 'tag-push'), others: [older] }, selector), asked('refs/tags/v1.10.0', 'tag-push'))
})

void t.test('a call without a ref requests the followed ref', async (t) => {
  const of = { ...target('semver:>=1.2,<2', 'refs/tags/v1.2.0'), specRef: 'semver:>=1.2,<2' }
  t.strictSame(chooseRef(asked('HEAD', 'push'), of), { ref: 'semver:>=1.2,<2', event: 'push' })
  t.strictSame(chooseRef(asked('HEAD', 'push'), target('main', 'refs/heads/main')), asked('main', 'push'))
})

void t.test('the target includes the resolved ref of the spec or of the followed request', async (t) => {
  const repo = 'https://git.example/plant.git'
  const git = { repo, ref: 'v1', allowedRefs: ['v*'] }
  const source = { ref: 'v1', resolvedRef: 'refs/tags/v1' }
  const expected = { specRef: 'v1', desiredRef: 'v1', resolvedRef: 'refs/tags/v1', allowedRefs: ['v*'], repository: repo }
  t.strictSame(targetOf({ git }, {}, { source }), expected)
  const other = { ...expected, specRef: 'v2', desiredRef: 'v2', resolvedRef: undefined }
  t.strictSame(targetOf({ git: { ...git, ref: 'v2' } }, {}, { source }), other)
  const requested = { [requestAnnotations.ref]: 'refs/tags/v9', [requestAnnotations.id]: 'r', [requestAnnotations.specRef]: 'v1' }
  t.strictSame(targetOf({ git }, requested, { source }), { ...expected, desiredRef: 'refs/tags/v9', resolvedRef: 'refs/tags/v9' })
  const repository = 'https://public.example/plant'
  t.strictSame(targetOf({ git, webhook: { repo: repository } }, {}, { source }), { ...expected, repository })
})
