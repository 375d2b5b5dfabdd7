/**
 * Which ref a call of an unknown sender requests, by the shape of its body.
 */
import t from 'tap'
import { hosts, shapes } from '../../../../runtime/receiver/payload/payload.ts'
import { after, before, check, ignored, move, push, release, unrecognized } from '../../../support/webhook-rows.ts'

const generic = (ref: string): object => ({ kind: 'ref', ref, event: 'generic' })
const notification = (ref: unknown) => ({ app: { metadata: { annotations: { 'git.ref': ref } } } })
const freight = (...commits: unknown[]) => ({ freight: { commits } })
const named = (url: string) => ({ urls: [url], path: undefined, ignoresCase: false })

check([
  ['a body that is not an object', {}, ['ref'], unrecognized],
  ['null', {}, null, unrecognized],
  ['an empty body', {}, {}, unrecognized],
  ['a generic call has the ref as written', {}, { ref: 'main' }, generic('main')],
  ['a generic call with an empty ref', {}, { ref: '' }, unrecognized],
  ['a generic call with a ref that git refuses', {}, { ref: 'a..b' }, { kind: 'invalidRef', ref: 'a..b' }],
  ['a generic call for HEAD', {}, { ref: 'HEAD' }, ignored('UnusableRef')],
  ['a generic deletion', {}, { ref: 'main', deleted: true }, ignored('Deletion')],
  ['a generic call with one commit is not a push', {}, { ref: 'refs/tags/v1', before }, generic('refs/tags/v1')],
  ['a generic call with the other commit is not a push', {}, { ref: 'refs/tags/v1', after }, generic('refs/tags/v1')],
  ['a push by its shape', {}, { ref: 'refs/heads/main', ...move }, push('refs/heads/main')],
  ['a created ref by its shape', {}, { ref: 'main', ref_type: 'branch' }, ignored('OtherEvent')],
  ['a push with the type of its ref', {}, { ref: 'refs/heads/main', ref_type: 'branch', ...move }, push('refs/heads/main')],
  ['a release by its shape', {}, { action: 'published', release: { tag_name: 'v1' } }, release('refs/tags/v1')],
  ['an unpublished release by its shape', {}, { action: 'edited', release: { tag_name: 'v1' } }, ignored('OtherAction')],
  ['a notification', {}, notification('main'), { kind: 'ref', ref: 'main', event: 'notification' }],
  ['a notification without a ref', {}, notification(''), unrecognized],
  [
    'a promotion requests the first tag, then branches',
    {},
    freight({ branch: 'main', repoURL: 'https://git.example/a' }, { tag: 'v1' }, { branch: 'a..b' }, {}),
    {
      kind: 'ref',
      ref: 'refs/tags/v1',
      event: 'promotion',
      others: [{ repository: named('https://git.example/a'), ref: 'refs/heads/main', event: 'promotion' }],
    },
  ],
  ['a promotion of one branch', {}, freight({ branch: 'main' }), { kind: 'ref', ref: 'refs/heads/main', event: 'promotion' }],
  [
    'a promotion names its repository',
    {},
    freight({ tag: 'v1', repoURL: 'https://git.example/a' }),
    { repository: named('https://git.example/a'), kind: 'ref', ref: 'refs/tags/v1', event: 'promotion' },
  ],
  ['a promotion of an unusable tag', {}, freight({ tag: 'a..b' }, { tag: 'v1' }), { kind: 'invalidRef', ref: 'refs/tags/a..b' }],
  ['a promotion of nothing', {}, freight(), unrecognized],
])

void t.test('hosts and shapes are tried in a fixed order', async (t) => {
  t.strictSame(
    hosts.map(({ name }) => name),
    ['Forgejo', 'Gitea', 'Gogs', 'GitHub', 'Gitee', 'Harness', 'Bitbucket', 'Azure DevOps', 'GitLab', 'CDEvents'],
  )
  t.strictSame(
    shapes.map(({ name }) => name),
    ['test call', 'release', 'notification', 'promotion', 'created or deleted ref', 'push', 'generic'],
  )
})
