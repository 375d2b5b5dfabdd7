import t from 'tap'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { artifactDigestOf } from '../../../../runtime/reconcile/decide/artifact-digest.ts'

const at = '2026-01-01T00:00:00Z'
const [commit, other] = ['a'.repeat(40), 'b'.repeat(40)]
const [digest, another] = [`sha256:${'1'.repeat(64)}`, `sha256:${'2'.repeat(64)}`]
const artifact = { commit, ref: `v1@${digest}` }
const rollout = { state: 'Progressing', id: at, commit: other, configurations: {}, startedAt: at } as const
const entry = { by: 'spec', at, outcome: 'Published' } as const

void t.test('the artifact of a commit is found wherever the status names both', async (t) => {
  const places: Record<string, GatewaySyncStatus> = {
    'the published commit': { published: { ...artifact, at } },
    'the commit before a rollout': { rollout: { ...rollout, previous: artifact } },
    'the commit that was rolled back': { rollout: { ...rollout, refused: artifact } },
    'the history': {
      history: [
        { ...entry, commit: other, ref: `v2@${another}` },
        { ...entry, ...artifact },
      ],
    },
    'the followed tag': { source: { commit, ref: 'v1', resolvedRef: artifact.ref } },
    'the followed digest': { source: artifact },
  }
  for (const [place, status] of Object.entries(places)) t.equal(artifactDigestOf(status, commit), digest, place)
  t.equal(artifactDigestOf(places['the published commit'] ?? {}, other), undefined, 'of another commit')
  t.equal(artifactDigestOf({ source: { commit, ref: 'main', resolvedRef: 'refs/heads/main' } }, commit), undefined, 'a commit of git')
  t.equal(artifactDigestOf({}, commit), undefined)
})

void t.test('the first place with a digest counts, in the order from the published commit to the source', async (t) => {
  const published = { commit, ref: 'main', at }
  const history = [{ ...entry, ...artifact }]
  t.equal(artifactDigestOf({ published, history }, commit), digest)
  t.equal(artifactDigestOf({ published: { ...published, ref: `v2@${another}` }, history, source: artifact }, commit), another)
  t.equal(artifactDigestOf({ history, source: { commit, ref: `v2@${another}` } }, commit), digest)
})
