/**
 * Tests that the receiver answers any call and writes only refs that the body contains.
 */
import fc from 'fast-check'
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { requestAnnotations } from '../../../runtime/api/names.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { receiverApp } from '../../../runtime/receiver/app.ts'
import { indexOf } from '../../support/receiver-app.ts'

const statuses = new Set([200, 202, 400, 401, 404, 413, 415, 422])

/** Any characters that a header may contain on the wire. */
const headerValue = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code)), maxLength: 80 })
const headers = fc.dictionary(
  fc.constantFrom(
    'authorization',
    'x-hub-signature-256',
    'x-hub-signature',
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'x-forwarded-for',
    'x-github-event',
    'x-github-delivery',
    'x-event-key',
    'x-gitlab-event',
    'x-gitlab-token',
  ),
  fc.oneof(headerValue, fc.constantFrom('Bearer token', 'push', 'repo:push', 'v1,', 'sha256=', '1614265330')),
)
const contentType = fc.constantFrom(
  'application/json',
  'application/x-www-form-urlencoded',
  'application/vnd.x+json; charset=utf-8',
  'text/plain',
)
const body = fc.oneof(
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
  fc.json({ maxDepth: 4 }).map((text) => Buffer.from(text)),
  fc.string().map((ref) => Buffer.from(JSON.stringify({ ref }))),
  fc.string().map((ref) => Buffer.from(`payload=${encodeURIComponent(JSON.stringify({ ref }))}`)),
)

void t.test('any bytes and headers are answered without 5xx, and an unauthenticated call writes nothing', async (t) => {
  for (const open of [true, false]) {
    let written: string[] = []
    const app = receiverApp({
      lookup: (_namespace, name) => (name === 'plant' ? { specRef: 'main', desiredRef: 'main', allowedRefs: undefined } : undefined),
      syncs: () => indexOf(['plant']),
      keys: async () => (open ? { hmac: undefined, tokens: undefined } : { hmac: ['key'], tokens: ['token'] }),
      request: async (_namespace, _name, annotations) => void written.push(annotations[requestAnnotations.ref] ?? ''),
      observe() {},
      limits: { perSecond: 1_000_000, failuresPerPeer: 1_000_000 },
      // The receiver delays refusals.
      clock: { ...systemClock, wait: async () => {} },
      log: silentLog,
    })
    await fc.assert(
      fc.asyncProperty(headers, contentType, body, fc.constantFrom('plant', 'none', '%00', '..%2f'), async (given, type, bytes, name) => {
        written = []
        const sent = { ...given, 'content-type': type }
        const answer = await app.request(`/webhook/default/${name}`, { method: 'POST', body: bytes, headers: sent })
        const text = await answer.text()
        const isAuthenticated = open || Object.values(given).some((value) => value === 'Bearer token' || value === 'token')
        const held = type.includes('form') ? (new URLSearchParams(bytes.toString('utf8')).get('payload') ?? '') : bytes.toString('utf8')
        return (
          statuses.has(answer.status) &&
          typeof JSON.parse(text) === 'object' &&
          (isAuthenticated || answer.status === 401) &&
          written.every((ref) => JSON.stringify(JSON.parse(held)).includes(JSON.stringify(ref).slice(1, -1)))
        )
      }),
      { numRuns: 1_000 },
    )
  }
  t.pass('2,000 calls')
})
