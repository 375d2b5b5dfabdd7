import t from 'tap'
import {
  desiredSync,
  gatewayName,
  parseDownwardFile,
  podOrdinal,
  type FollowedSync,
  type PodFacts,
} from '../../../runtime/agent/desired.ts'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation, podAnnotations, requestAnnotations } from '../../../runtime/api/names.ts'
import { matchObject } from '../../support/assertions.ts'

const commit = 'a'.repeat(40)
const pod: PodFacts = { podName: 'gw-3', namespace: 'plant', annotations: {}, labels: {} }
const followed: FollowedSync = {
  uid: 'u',
  annotations: {},
  spec: {
    git: { repo: 'https://git.example/plant.git', ref: 'main' },
    sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'a' }] }, line2: { paused: true, collections: { root: 'c' } } } },
  },
  status: { published: { commit, ref: 'main', at: '2026-01-01T00:00:00Z' }, delivery: { url: 'https://d:9445', caBundle: 'PEM' } },
}

void t.test('an agent applies only what is published for its profile', async (t) => {
  matchObject(t, desiredSync('plant', followed, pod, undefined), {
    kind: 'sync',
    commit,
    ref: 'main',
    paused: false,
    profile: { name: 'default' },
  })
  const line2 = { ...pod, annotations: { [podAnnotations.profile]: 'line2' } }
  matchObject(t, desiredSync('plant', followed, line2, undefined), { kind: 'sync', paused: true, profile: { name: 'line2' } })
  const pausedAll = { ...followed, spec: { ...(followed.spec as object), paused: true } }
  matchObject(t, desiredSync('plant', pausedAll, pod, undefined), { kind: 'sync', paused: true })
  const confirmed = { ...followed, annotations: { [confirmDeletionsAnnotation]: commit } }
  matchObject(t, desiredSync('plant', confirmed, pod, undefined), { confirmDeletions: commit, confirmOverwrites: undefined })
  const givenUp = { ...followed, annotations: { [confirmOverwritesAnnotation]: commit } }
  matchObject(t, desiredSync('plant', givenUp, pod, undefined), { confirmDeletions: undefined, confirmOverwrites: commit })
})

void t.test('missing input leaves the gateway unchanged and is named in the fault', async (t) => {
  const { published: _published, ...unpublished } = followed.status
  const { delivery: _delivery, ...unannounced } = followed.status
  const rows: [string, FollowedSync | undefined, PodFacts, string, string][] = [
    ['no GatewaySync', undefined, pod, 'Pending', 'NotFound'],
    ['nothing published', { ...followed, status: unpublished }, pod, 'Pending', 'CommitNotPublished'],
    ['no delivery address', { ...followed, status: unannounced }, pod, 'Pending', 'DeliveryUnreachable'],
    ['an unknown profile', followed, { ...pod, annotations: { [podAnnotations.profile]: 'toString' } }, 'Blocked', 'UnknownProfile'],
    ['an invalid spec', { ...followed, spec: { git: {} } }, pod, 'Blocked', 'InvalidSpec'],
  ]
  for (const [name, sync, facts, phase, reason] of rows)
    matchObject(t, desiredSync('plant', sync, facts, undefined), { kind: 'idle', phase, fault: { reason } }, name)
})

void t.test('the spec decides how a gateway starts, even if it is invalid or lacks the profile', async (t) => {
  const { git } = followed.spec as { git: object }
  const lost = { ...pod, annotations: { [podAnnotations.profile]: 'nowhere' } }
  const block = { policy: 'Block', deadlineMs: 600_000, graceMs: 30_000 }
  const rows: [string, object, PodFacts, string, object][] = [
    ['defaults', { sync: { defaults: { startPolicy: 'Start' }, profiles: {} } }, lost, 'UnknownProfile', { policy: 'Start' }],
    [
      'a deadline',
      { sync: { defaults: { startDeadline: '1m', startGrace: '5s' }, profiles: {} } },
      lost,
      'UnknownProfile',
      { policy: 'Block', deadlineMs: 60_000, graceMs: 5_000 },
    ],
    ['a pause', { paused: true, sync: { profiles: {} } }, lost, 'UnknownProfile', { policy: 'Start' }],
    ['a pause of the defaults', { sync: { defaults: { paused: true }, profiles: {} } }, lost, 'UnknownProfile', { policy: 'Start' }],
    ['a dry run', { sync: { defaults: { dryRun: true }, profiles: {} } }, lost, 'UnknownProfile', { policy: 'Start' }],
    ['nothing', { sync: { profiles: {} } }, lost, 'UnknownProfile', block],
    [
      'an invalid neighbour',
      { sync: { defaults: { startPolicy: 'Start', syncPeriod: 'often' }, profiles: { default: {} } } },
      pod,
      'InvalidSpec',
      { policy: 'Start' },
    ],
    [
      'an invalid profile',
      { sync: { profiles: { default: { startPolicy: 'Start', mappings: 7 } } } },
      pod,
      'InvalidSpec',
      { policy: 'Start' },
    ],
    [
      'what it says is invalid',
      { sync: { defaults: { startPolicy: 'sometimes', startDeadline: 7 }, profiles: { default: {} } } },
      pod,
      'InvalidSpec',
      block,
    ],
    ['no object', { sync: 'all' }, pod, 'InvalidSpec', block],
  ]
  for (const [name, spec, facts, reason, start] of rows)
    matchObject(
      t,
      desiredSync('plant', { ...followed, spec: { git, ...spec } }, facts, undefined),
      { kind: 'idle', fault: { reason }, start },
      name,
    )
})

void t.test('a commit published for an earlier spec is not applied, and stays if it is applied already', async (t) => {
  const { git, ...others } = followed.spec as { git: { repo: string; ref: string } }
  const request = (ref: string, specRef: string) => ({ source: { ref, requested: { ref, id: 'a', specRef } } })
  const annotated = (ref: string, id: string): FollowedSync['annotations'] => ({
    [requestAnnotations.ref]: ref,
    [requestAnnotations.id]: id,
    [requestAnnotations.specRef]: 'main',
  })
  const of = (
    published: object,
    { spec = {}, status = {}, annotations = {} }: { spec?: object; status?: object; annotations?: FollowedSync['annotations'] } = {},
  ): FollowedSync => ({
    uid: 'u',
    annotations,
    spec: { ...others, git: { ...git, ...spec } },
    status: { ...followed.status, ...status, published: { commit, ref: 'main', at: '2026-01-01T00:00:00Z', ...published } },
  })
  const rows: [string, FollowedSync, boolean][] = [
    ['the ref of the spec', of({}), true],
    ['the same ref in full', of({ ref: 'refs/heads/main' }), true],
    ['another ref', of({ ref: 'staging' }), false],
    ['the same repository', of({ repo: git.repo }), true],
    ['another repository', of({ repo: 'https://git.example/other.git' }), false],
    ['a request that lasts', of({ ref: 'v1' }, { status: request('v1', 'main'), annotations: annotated('v1', 'a') }), true],
    [
      'a request that a change of the spec ended',
      of({ ref: 'v1' }, { status: request('v1', 'old'), annotations: annotated('v1', 'a') }),
      false,
    ],
    ['a request whose annotations are gone', of({ ref: 'v1' }, { status: request('v1', 'main') }), false],
    ['what was desired before a request without an outcome', of({}, { annotations: annotated('v2', 'b') }), true],
    ['what such a request asks for', of({ ref: 'v2' }, { annotations: annotated('v2', 'b') }), false],
  ]
  for (const [name, sync, followedAtOnce] of rows) {
    const idle = { kind: 'idle', phase: 'Pending', fault: { reason: 'CommitNotPublished' } }
    matchObject(t, desiredSync('plant', sync, pod, undefined), followedAtOnce ? { kind: 'sync', commit } : idle, name)
    matchObject(
      t,
      desiredSync('plant', sync, pod, { commit: 'b'.repeat(40) }),
      followedAtOnce ? { kind: 'sync', commit } : idle,
      `${name}, over another`,
    )
    matchObject(t, desiredSync('plant', sync, pod, { commit }), { kind: 'sync', commit }, `${name}, in place already`)
  }
  const paused = of({ ref: 'staging' })
  matchObject(t, desiredSync('plant', { ...paused, spec: { ...(paused.spec as object), paused: true } }, pod, undefined), {
    kind: 'sync',
    paused: true,
  })
})

void t.test('name and ordinal come from annotation and label, else from the pod name', async (t) => {
  t.equal(gatewayName(pod), 'gw-3')
  t.equal(gatewayName({ ...pod, annotations: { [podAnnotations.gatewayName]: 'press 1' } }), 'press 1')
  t.equal(gatewayName({ ...pod, annotations: { [podAnnotations.gatewayName]: 'p'.repeat(1_024) } }), 'p'.repeat(253))
  t.equal(podOrdinal(pod), 3)
  t.equal(podOrdinal({ ...pod, labels: { 'apps.kubernetes.io/pod-index': '7' } }), 7)
  t.equal(podOrdinal({ ...pod, podName: 'gateway' }), 0)
})

void t.test('a downward API file is parsed to the original values', async (t) => {
  const text = 'a="1"\nclustersync.io/profile="line 2"\nq="say \\"hi\\"\\nthere\\\\"\nu="\\u00e9\\x01é"\nempty=""\n'
  t.strictSame(parseDownwardFile(text), { a: '1', 'clustersync.io/profile': 'line 2', q: 'say "hi"\nthere\\', u: 'é\u0001é', empty: '' })
  t.strictSame(parseDownwardFile(''), {})
})

void t.test('the quiet period of a capture is kept per GatewaySync UID and repository', async (t) => {
  const subject = (uid: string, repo: string): string | undefined => {
    const spec = { ...(followed.spec as object), git: { repo, ref: 'main' }, capture: { trigger: 'Drift' } }
    const desired = desiredSync('plant', { ...followed, uid, spec }, pod, undefined)
    return desired.kind === 'sync' ? desired.captureQuiet?.subject : undefined
  }
  const repos = ['https://git.example/plant.git', 'https://git.example/moved.git']
  const all = ['one', 'two'].flatMap((uid) => repos.map((repo) => subject(uid, repo)))
  t.equal(new Set(all).size, 4)
  t.notOk(all.includes(undefined))
})
