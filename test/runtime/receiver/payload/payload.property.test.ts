import { readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { shortRef } from '../../../../runtime/api/values.ts'
import { parseBody } from '../../../../runtime/http/body.ts'
import { bodyLimits } from '../../../../runtime/receiver/limits.ts'
import { readPayload } from '../../../../runtime/receiver/payload/payload.ts'
import { matchObject } from '../../../support/assertions.ts'
import { sharedData } from '../../../support/requires.ts'

const eventHeaders = [
  'x-forgejo-event',
  'x-gitea-event',
  'x-gogs-event',
  'x-github-event',
  'x-gitlab-event',
  'x-gitee-event',
  'x-event-key',
  'x-harness-trigger',
]
const events = ['push', 'release', 'ping', 'create', 'Push Hook', 'System Hook', 'repo:push', 'repo:refs_changed', 'tag_created']
const headers = fc.dictionary(fc.constantFrom(...eventHeaders), fc.oneof(fc.constantFrom(...events), fc.string()))

/** Generates JSON with the member names that the body formats use. */
const names = `ref ref_type before after deleted release tag_name action draft tag object_kind event_name eventType publisherId eventKey
  push changes new old name type id refId toHash resource refUpdates newObjectId freight commits app metadata annotations git.ref test`
const nearly = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom(null, true, '', 'main', 'refs/tags/v1', 'git.push', 'repo:push', 'tag', 'published', '0'.repeat(40), 'a..b'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names.split(/\s+/)), tie('value'), { maxKeys: 6 }),
  ),
})).value

void t.test('no body and no header makes the parser throw, and every ref occurs in the body', async () => {
  fc.assert(
    fc.property(headers, fc.oneof(fc.jsonValue(), nearly), (given, body) => {
      const payload = readPayload(given, body)
      const asked = payload.kind === 'ref' ? [payload, ...(payload.others ?? [])] : []
      return asked.every(({ ref }) => JSON.stringify(body).includes(JSON.stringify(shortRef(ref)).slice(1, -1)))
    }),
    { numRuns: 5_000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) =>
      ['json', 'malformed', 'tooComplex'].includes(parseBody(bytes, bodyLimits.complexity).kind),
    ),
    { numRuns: 2_000 },
  )
})

type Delivery = {
  file: string
  host: string
  headers: Record<string, string>
  expectedRef: string | null
  alternatives?: (string | null)[]
  allRefs?: string[]
  kind: string
  parses: boolean
}

/** Image registries, whose bodies name no ref. */
const unsupported = ['dockerhub', 'harbor']

void t.test('every real delivery of a supported host is parsed to its documented meaning', async (t) => {
  const index = sharedData(t, 'webhooks/index.json')
  if (index === undefined) return
  const deliveries = JSON.parse(readFileSync(index, 'utf8')) as Delivery[]
  let exact = 0
  for (const { file, host, headers, expectedRef, alternatives = [], allRefs = [], kind } of deliveries) {
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    const parsed = parseBody(readFileSync(path.join(path.dirname(index), file)), bodyLimits.complexity)
    const payload = parsed.kind === 'json' ? readPayload(lower, parsed.value) : undefined
    const understood = payload?.kind === 'ref' || payload?.kind === 'ping' || payload?.kind === 'ignored'
    t.equal(understood, !unsupported.includes(host), `${file} is ${understood ? '' : 'not '}understood`)
    const ref = payload?.kind === 'ref' ? payload.ref : null
    const prefix = kind === 'push-tag' || kind.startsWith('release-') ? 'refs/tags/' : 'refs/heads/'
    // A body without a host has the ref exactly as written.
    const full = (name: string): string => (host === 'generic' || name.startsWith('refs/') ? name : `${prefix}${name}`)
    const meant = [expectedRef, ...alternatives, ...allRefs].map((name) => (name === null ? null : full(name)))
    t.ok(meant.includes(ref), `${file}: ${ref ?? 'nothing'}, meant ${meant.join(' or ')}`)
    if (ref === meant[0]) exact += 1
  }
  t.comment(`${exact} of ${deliveries.length} in the first meaning`)
  t.ok(exact >= 94, `${exact} of ${deliveries.length}`)
})

void t.test('a test call with a ref is a request for that ref, and one without a ref is a ping', async (t) => {
  t.strictSame(readPayload({}, { test: true, ref: 'main' }), { kind: 'ref', ref: 'main', event: 'generic' })
  t.strictSame(readPayload({}, { test: true, ref: 'a..b' }), { kind: 'invalidRef', ref: 'a..b' })
  t.strictSame(readPayload({}, { test: true }), { kind: 'ping' })
  t.strictSame(readPayload({}, { test: 'true' }), { kind: 'unrecognized' })
})

void t.test('of several refs in one delivery, deleted and invalid ones are omitted and the order is kept', async (t) => {
  const zero = '0'.repeat(40)
  const update = (name: unknown, newObjectId = 'a'.repeat(40)) => ({ name, newObjectId })
  const azure = (...refUpdates: unknown[]) => readPayload({}, { publisherId: 'tfs', eventType: 'git.push', resource: { refUpdates } })
  t.strictSame(azure(update('refs/heads/old', zero), update('refs/heads/a'), update('refs/tags/v1'), update(7), null, update('a..b')), {
    kind: 'ref',
    ref: 'refs/heads/a',
    event: 'push',
    others: [{ ref: 'refs/tags/v1', event: 'tag-push' }],
  })
  t.strictSame(azure(update('refs/heads/old', zero)), { kind: 'ignored', reason: 'Deletion' })
  t.strictSame(azure(), { kind: 'ignored', reason: 'OtherEvent' })
  t.strictSame(azure(update('a..b')), { kind: 'ignored', reason: 'UnusableRef' })
  const created = { ref: 'v1', ref_type: 'tag' }
  const asked = { kind: 'ref', ref: 'refs/tags/v1', event: 'tag-push' }
  t.strictSame(readPayload({ 'x-gogs-event': 'create', 'x-github-event': 'create' }, created), asked)
  matchObject(
    t,
    readPayload({ 'x-gitea-event': 'create', 'x-gogs-event': 'create' }, created),
    { kind: 'ignored' },
    'Gitea sends a push beside it',
  )
})
