import { readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { shortRef } from '../../../runtime/gatewaysync/values.ts'
import { parseBody } from '../../../runtime/receiver/body.ts'
import { readPayload } from '../../../runtime/receiver/payload.ts'
import { sharedData } from '../../support/requires.ts'

const headers = fc.dictionary(
  fc.constantFrom('x-github-event', 'x-gitlab-event', 'x-gitea-event', 'x-event-key'),
  fc.oneof(fc.constantFrom('push', 'release', 'ping'), fc.string()),
)

void t.test('no body and no header makes the parser throw, and a ref is always one that the body holds', async () => {
  fc.assert(
    fc.property(headers, fc.jsonValue(), (given, body) => {
      const payload = readPayload(given, body)
      return payload.kind !== 'ref' || JSON.stringify(body).includes(JSON.stringify(payload.ref).slice(1, -1))
    }),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => ['json', 'malformed', 'tooComplex'].includes(parseBody(bytes).kind)),
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
  parses: boolean
}

void t.test('of 103 real deliveries none asks for a ref that it does not mean', async (t) => {
  const index = sharedData(t, 'webhooks/index.json')
  if (index === undefined) return
  const deliveries = JSON.parse(readFileSync(index, 'utf8')) as Delivery[]
  let right = 0
  for (const { file, headers, expectedRef, alternatives = [], allRefs = [] } of deliveries) {
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    const parsed = parseBody(readFileSync(path.join(path.dirname(index), file)))
    const payload = parsed.kind === 'json' ? readPayload(lower, parsed.value) : undefined
    const ref = payload?.kind === 'ref' ? payload.ref : null
    const meant = [expectedRef, ...alternatives, ...allRefs].map((name) => (name === null ? null : shortRef(name)))
    if (ref === (expectedRef === null ? null : shortRef(expectedRef))) right += 1
    t.ok(ref === null || meant.includes(ref), `${file}: ${ref ?? 'nothing'}, meant ${meant.join(' or ')}`)
  }
  t.comment(`${right} of ${deliveries.length} exactly as meant`)
  t.ok(right >= 60, `${right} of ${deliveries.length} are read exactly; hosts with bodies of their own are not yet`)
})
