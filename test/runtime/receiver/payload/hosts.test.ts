/**
 * Which ref each call of a git host requests, in the format of every host.
 */
import t from 'tap'
import { readPayload } from '../../../../runtime/receiver/payload/payload.ts'
import { after, before, check, ignored, move, ping, push, release, tagPush, unrecognized, zero } from '../../../support/webhook-rows.ts'

for (const header of ['x-github-event', 'x-gitea-event', 'x-forgejo-event', 'x-gogs-event'])
  check([
    [
      `${header}: a push names its ref and both commits`,
      { [header]: 'push' },
      { ref: 'refs/heads/main', ...move },
      push('refs/heads/main'),
    ],
    [`${header}: the event is read in any case`, { [header]: 'Push' }, { ref: 'refs/heads/main', ...move }, push('refs/heads/main')],
    [`${header}: a pushed tag is a tag push`, { [header]: 'push' }, { ref: 'refs/tags/v1', ...move }, tagPush('refs/tags/v1')],
    [
      `${header}: a push without both commits has no move`,
      { [header]: 'push' },
      { ref: 'refs/heads/a', before },
      { kind: 'ref', ref: 'refs/heads/a', event: 'push' },
    ],
    [
      `${header}: a push with only the later commit has no move`,
      { [header]: 'push' },
      { ref: 'refs/heads/a', after },
      { kind: 'ref', ref: 'refs/heads/a', event: 'push' },
    ],
    [`${header}: a short ref is a branch`, { [header]: 'push' }, { ref: 'main', ...move }, push('refs/heads/main')],
    [`${header}: a deletion by flag`, { [header]: 'push' }, { ref: 'refs/heads/a', deleted: true }, ignored('Deletion')],
    [`${header}: a deletion by hash`, { [header]: 'push' }, { ref: 'refs/heads/a', before, after: zero }, ignored('Deletion')],
    [
      `${header}: a hash that begins with zeros is not a deletion`,
      { [header]: 'push' },
      { ref: 'refs/heads/a', before, after: `00${'a'.repeat(38)}` },
      { kind: 'ref', ref: 'refs/heads/a', event: 'push', move: { before, after: `00${'a'.repeat(38)}` } },
    ],
    [
      `${header}: a hash that ends with zeros is not a deletion`,
      { [header]: 'push' },
      { ref: 'refs/heads/a', before, after: `${'a'.repeat(38)}00` },
      { kind: 'ref', ref: 'refs/heads/a', event: 'push', move: { before, after: `${'a'.repeat(38)}00` } },
    ],
    [`${header}: a push of HEAD`, { [header]: 'push' }, { ref: 'HEAD', ...move }, ignored('UnusableRef')],
    [`${header}: a ref that git refuses`, { [header]: 'push' }, { ref: 'refs/heads/a..b' }, ignored('UnusableRef')],
    [`${header}: a branch whose short name git refuses`, { [header]: 'push' }, { ref: 'refs/heads/-x' }, ignored('UnusableRef')],
    [`${header}: a push without a ref`, { [header]: 'push' }, { ...move }, unrecognized],
    [`${header}: a push with an empty ref`, { [header]: 'push' }, { ref: '', ...move }, unrecognized],
    [
      `${header}: a published release requests its tag`,
      { [header]: 'release' },
      { action: 'published', release: { tag_name: 'v1' } },
      release('refs/tags/v1'),
    ],
    [`${header}: a release without an action`, { [header]: 'release' }, { release: { tag_name: 'v1' } }, release('refs/tags/v1')],
    [`${header}: a draft`, { [header]: 'release' }, { action: 'published', release: { tag_name: 'v1', draft: true } }, ignored('Draft')],
    [`${header}: an edited release`, { [header]: 'release' }, { action: 'edited', release: { tag_name: 'v1' } }, ignored('OtherAction')],
    [`${header}: a release without a tag`, { [header]: 'release' }, { release: { tag_name: '' } }, unrecognized],
    [`${header}: a release whose tag is not text`, { [header]: 'release' }, { release: { tag_name: 1 } }, unrecognized],
    [`${header}: a ping`, { [header]: 'ping' }, { zen: 'x' }, ping],
    [`${header}: another event`, { [header]: 'issues' }, { ref: 'refs/heads/main', ...move }, ignored('OtherEvent')],
    [`${header}: a created branch, which is also pushed`, { [header]: 'create' }, { ref: 'a', ref_type: 'branch' }, ignored('OtherEvent')],
  ])

check([
  [
    'Gogs: a created tag, which is not pushed',
    { 'x-gogs-event': 'create' },
    { ref: 'v1', ref_type: 'tag' },
    { kind: 'ref', ref: 'refs/tags/v1', event: 'tag-push' },
  ],
  ['Gogs: a created tag without a name', { 'x-gogs-event': 'create' }, { ref: '', ref_type: 'tag' }, unrecognized],
  ['Gogs: a created tag whose name is not text', { 'x-gogs-event': 'create' }, { ref: 1, ref_type: 'tag' }, unrecognized],
  [
    'Gogs: a pushed tag with its type',
    { 'x-gogs-event': 'push' },
    { ref: 'refs/tags/v1', ref_type: 'tag', ...move },
    tagPush('refs/tags/v1'),
  ],
  ['GitHub: a created tag, which is also pushed', { 'x-github-event': 'create' }, { ref: 'v1', ref_type: 'tag' }, ignored('OtherEvent')],
])

// A host that sends the headers of another one is recognized by its own.
for (const header of ['x-forgejo-event', 'x-gitea-event'])
  check([
    [
      `${header} counts before x-gogs-event`,
      { [header]: 'create', 'x-gogs-event': 'create' },
      { ref: 'v1', ref_type: 'tag' },
      ignored('OtherEvent'),
    ],
  ])

const gitLabPush = { ref: 'refs/heads/main', ...move }

check([
  ['GitLab: a push hook', { 'x-gitlab-event': 'Push Hook' }, gitLabPush, push('refs/heads/main')],
  ['GitLab: a tag push hook', { 'x-gitlab-event': 'Tag Push Hook' }, { ref: 'refs/tags/v1', ...move }, tagPush('refs/tags/v1')],
  ['GitLab: a push by its body', {}, { object_kind: 'push', ...gitLabPush }, push('refs/heads/main')],
  ['GitLab: a tag push by its body', {}, { object_kind: 'tag_push', ref: 'refs/tags/v1', ...move }, tagPush('refs/tags/v1')],
  [
    'GitLab: a system hook names its event in the body',
    { 'x-gitlab-event': 'System Hook' },
    { event_name: 'Push', ...gitLabPush },
    push('refs/heads/main'),
  ],
  [
    'GitLab: the body counts before the header',
    { 'x-gitlab-event': 'Push Hook' },
    { object_kind: 'note', ...gitLabPush },
    ignored('OtherEvent'),
  ],
  [
    'GitLab: object_kind counts before event_name',
    { 'x-gitlab-event': 'System Hook' },
    { object_kind: 'push', event_name: 'note', ...gitLabPush },
    push('refs/heads/main'),
  ],
  ['GitLab: event_name without the header is another host', {}, { event_name: 'note', ...gitLabPush }, push('refs/heads/main')],
  ['GitLab: a created release', { 'x-gitlab-event': 'Release Hook' }, { action: 'create', tag: 'v1' }, release('refs/tags/v1')],
  ['GitLab: a created release by its body', {}, { object_kind: 'release', action: 'create', tag: 'v1' }, release('refs/tags/v1')],
  ['GitLab: a changed release', { 'x-gitlab-event': 'Release Hook' }, { action: 'update', tag: 'v1' }, ignored('OtherAction')],
  ['GitLab: a release without a tag', { 'x-gitlab-event': 'Release Hook' }, { action: 'create' }, unrecognized],
  ['GitLab: another event', { 'x-gitlab-event': 'Note Hook' }, gitLabPush, ignored('OtherEvent')],
  ['Gitee: a push hook', { 'x-gitee-event': 'Push Hook' }, gitLabPush, push('refs/heads/main')],
  ['Gitee: a tag push hook', { 'x-gitee-event': 'Tag Push Hook' }, { ref: 'refs/tags/v1', ...move }, tagPush('refs/tags/v1')],
  ['Gitee: a deleted branch', { 'x-gitee-event': 'Push Hook' }, { ref: 'refs/heads/main', before, after: zero }, ignored('Deletion')],
  ['Gitee: another event', { 'x-gitee-event': 'Note Hook' }, gitLabPush, ignored('OtherEvent')],
])

const harness = (event: string, name: unknown): [Record<string, string>, unknown] => [
  { 'x-harness-trigger': event },
  { ref: { name }, old_sha: before, sha: after },
]

check([
  ['Harness: an updated branch', ...harness('branch_updated', 'refs/heads/main'), push('refs/heads/main')],
  ['Harness: a created branch', ...harness('Branch_Created', 'refs/heads/main'), push('refs/heads/main')],
  ['Harness: a created tag', ...harness('tag_created', 'refs/tags/v1'), tagPush('refs/tags/v1')],
  ['Harness: an updated tag', ...harness('tag_updated', 'refs/tags/v1'), tagPush('refs/tags/v1')],
  ['Harness: a deleted branch', ...harness('branch_deleted', 'refs/heads/main'), ignored('Deletion')],
  ['Harness: a ref that git refuses', ...harness('branch_updated', 'refs/heads/a..b'), ignored('UnusableRef')],
  ['Harness: a ref without a name', ...harness('branch_updated', ''), ignored('OtherEvent')],
  ['Harness: a pull request', ...harness('pullreq_branch_updated', 'refs/heads/main'), ignored('OtherEvent')],
  ['Harness: a longer event', ...harness('branch_updated_later', 'refs/heads/main'), ignored('OtherEvent')],
])

const cloudChange = (name: string, type: string) => ({
  old: { name, type, target: { hash: before } },
  new: { name, type, target: { hash: after } },
})

const cloud = (...changes: unknown[]): [Record<string, string>, unknown] => [{ 'x-event-key': 'repo:push' }, { push: { changes } }]
const serverChange = (id: string, type = 'UPDATE') => ({ ref: { id }, refId: 'refs/heads/x', fromHash: before, toHash: after, type })
const dataCenter = (...changes: unknown[]): [Record<string, string>, unknown] => [{ 'x-event-key': 'repo:refs_changed' }, { changes }]

check([
  ['Bitbucket Cloud: a branch', ...cloud(cloudChange('main', 'branch')), push('refs/heads/main')],
  ['Bitbucket Cloud: a tag', ...cloud(cloudChange('v1', 'tag')), tagPush('refs/tags/v1')],
  ['Bitbucket Cloud: an annotated tag', ...cloud(cloudChange('v1', 'annotated_tag')), tagPush('refs/tags/v1')],
  ['Bitbucket Cloud: a deleted branch', ...cloud({ old: { name: 'main', type: 'branch' }, new: null }), ignored('Deletion')],
  [
    'Bitbucket Cloud: a created branch has no move',
    ...cloud({ old: null, new: { name: 'main', type: 'branch', target: { hash: after } } }),
    { kind: 'ref', ref: 'refs/heads/main', event: 'push' },
  ],
  [
    'Bitbucket Cloud: a change without type is a branch',
    ...cloud({ old: { name: 'main', target: { hash: before } }, new: { name: 'main', target: { hash: after } } }),
    push('refs/heads/main'),
  ],
  ['Bitbucket Cloud: a change without names', ...cloud({ old: null, new: null }, null), ignored('OtherEvent')],
  [
    'Bitbucket Cloud: several changes',
    ...cloud(cloudChange('main', 'branch'), cloudChange('v1', 'tag')),
    { ...push('refs/heads/main'), others: [{ ref: 'refs/tags/v1', event: 'tag-push', move }] },
  ],
  ['Bitbucket Data Center: a branch', ...dataCenter(serverChange('refs/heads/main')), push('refs/heads/main')],
  ['Bitbucket Data Center: a tag', ...dataCenter(serverChange('refs/tags/v1')), tagPush('refs/tags/v1')],
  ['Bitbucket Data Center: a deleted branch', ...dataCenter(serverChange('refs/heads/main', 'DELETE')), ignored('Deletion')],
  [
    'Bitbucket Data Center: refId names the ref when ref is missing',
    ...dataCenter({ refId: 'refs/heads/main', fromHash: before, toHash: after }),
    push('refs/heads/main'),
  ],
  [
    'Bitbucket Data Center: HEAD beside a branch',
    ...dataCenter(serverChange('HEAD'), serverChange('refs/heads/main')),
    push('refs/heads/main'),
  ],
  ['Bitbucket Data Center: HEAD alone', ...dataCenter(serverChange('HEAD')), ignored('OtherEvent')],
  ['Bitbucket Data Center: no change', ...dataCenter({}), ignored('OtherEvent')],
  [
    'Bitbucket Data Center: a mirror has caught up',
    { 'x-event-key': 'mirror:repo_synchronized' },
    { changes: [serverChange('refs/heads/main')] },
    push('refs/heads/main'),
  ],
  [
    'Bitbucket: the event in the body',
    {},
    { eventKey: 'Repo:Refs_Changed', changes: [serverChange('refs/heads/main')] },
    push('refs/heads/main'),
  ],
  [
    'Bitbucket: the header counts before the body',
    { 'x-event-key': 'pr:opened' },
    { eventKey: 'repo:refs_changed', changes: [serverChange('refs/heads/main')] },
    ignored('OtherEvent'),
  ],
  ['Bitbucket: a ping', { 'x-event-key': 'diagnostics:ping' }, { test: true }, ping],
])

const azure = (eventType: string, ...refUpdates: unknown[]) => ({ publisherId: 'tfs', eventType, resource: { refUpdates } })

check([
  [
    'Azure DevOps: a push',
    {},
    azure('git.push', { name: 'refs/heads/main', oldObjectId: before, newObjectId: after }),
    push('refs/heads/main'),
  ],
  [
    'Azure DevOps: the event is read in any case',
    {},
    azure('Git.Push', { name: 'refs/tags/v1', oldObjectId: before, newObjectId: after }),
    tagPush('refs/tags/v1'),
  ],
  ['Azure DevOps: another event', {}, azure('git.pullrequest.created', { name: 'refs/heads/main' }), ignored('OtherEvent')],
  [
    'a body with eventType and without publisherId is of another host',
    {},
    { eventType: 'git.push', ref: 'main' },
    { kind: 'ref', ref: 'main', event: 'generic' },
  ],
])

const cd = (type: string, subject: unknown, more: object = {}) => ({ context: { type }, subject, ...more })
const created = (id: string) => cd('dev.cdevents.branch.created.0.2.0', { id })

const merged = (repository: unknown, more: object = {}) =>
  cd('dev.cdevents.change.merged.0.2.0', { id: '1', content: { repository: { id: repository } } }, more)

const followed = { kind: 'ref', ref: 'HEAD', event: 'push' }

check([
  ['CDEvents: a created branch', {}, created('main'), { kind: 'ref', ref: 'refs/heads/main', event: 'push' }],
  ['CDEvents: a created branch by its full name', {}, created('refs/heads/main'), { kind: 'ref', ref: 'refs/heads/main', event: 'push' }],
  [
    'CDEvents: a branch may contain refs/heads',
    {},
    created('a/refs/heads/b'),
    { kind: 'ref', ref: 'refs/heads/a/refs/heads/b', event: 'push' },
  ],
  ['CDEvents: a created branch without a name', {}, cd('dev.cdevents.branch.created', {}), ignored('UnusableRef')],
  ['CDEvents: a deleted branch', {}, cd('dev.cdevents.branch.deleted.0.2.0', { id: 'main' }), ignored('Deletion')],
  ['CDEvents: a merged change requests the followed ref', {}, cd('dev.cdevents.change.merged.0.2.0', { id: '1' }), followed],
  [
    'CDEvents: a merged change may name its ref',
    {},
    cd('dev.cdevents.change.merged.0.2.0', { id: '1' }, { customData: { ref: 'refs/tags/v1' } }),
    { kind: 'ref', ref: 'refs/tags/v1', event: 'tag-push' },
  ],
  ['CDEvents: another event', {}, cd('dev.cdevents.service.deployed.0.2.0', { id: 'main' }), ignored('OtherEvent')],
  ['CDEvents: a CloudEvent holds it as data', {}, { data: created('main') }, { kind: 'ref', ref: 'refs/heads/main', event: 'push' }],
  ['a type that only contains that of a CDEvent is another body', {}, cd('x.dev.cdevents.branch.created', { id: 'main' }), unrecognized],
  ['a type that only begins like that of a CDEvent is another body', {}, cd('dev.cdevents.branch.created2', { id: 'main' }), unrecognized],
  [
    'CDEvents: a repository by URL',
    {},
    merged('https://git.example/plant/config'),
    {
      ...followed,
      repository: { urls: ['https://git.example/plant/config'], path: 'https://git.example/plant/config', ignoresCase: true },
    },
  ],
  [
    'CDEvents: a repository by host, owner and name',
    {},
    merged('git.example/plant/config'),
    {
      ...followed,
      repository: { urls: ['https://git.example/plant/config'], path: 'git.example/plant/config', ignoresCase: true },
    },
  ],
  [
    'CDEvents: a repository by owner and name',
    {},
    merged('plant/config.js'),
    { ...followed, repository: { urls: [], path: 'plant/config.js', ignoresCase: true } },
  ],
  ['CDEvents: a repository by name alone', {}, merged('config'), followed],
  [
    'CDEvents: an ignored event names no repository',
    {},
    cd('dev.cdevents.branch.deleted', { content: { repository: { id: 'a/b' } } }),
    ignored('Deletion'),
  ],
])

const generic = (ref: string): object => ({ kind: 'ref', ref, event: 'generic' })

void t.test('every ref of a call is in the repository that its body names', async (t) => {
  const repository = { clone_url: 'https://git.example/Plant/config.git', default_branch: 'main' }
  const place = { urls: ['https://git.example/Plant/config.git'], path: undefined, defaultBranch: 'main' }
  t.strictSame(readPayload({ 'x-github-event': 'push' }, { ref: 'refs/heads/main', ...move, repository }), {
    repository: { ...place, ignoresCase: true },
    ...push('refs/heads/main'),
  })
  t.strictSame(readPayload({}, { ref: 'main', repository }), { repository: { ...place, ignoresCase: false }, ...generic('main') })
  t.strictSame(readPayload({}, { test: true, repository }), ping)
  const [headers, body] = cloud(cloudChange('main', 'branch'), cloudChange('v1', 'tag'))
  t.strictSame(readPayload(headers, { ...(body as object), repository }), {
    repository: { ...place, ignoresCase: true },
    ...push('refs/heads/main'),
    others: [{ repository: { ...place, ignoresCase: true }, ref: 'refs/tags/v1', event: 'tag-push', move }],
  })
})
