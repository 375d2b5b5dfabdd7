/**
 * Actions on the status page: a form counts only if it comes from the status page in the same browser, for the same user and action, and
 * only if the API server allows that user to patch.
 */
import type * as http from 'node:http'
import t, { type Test } from 'tap'
import { containsText, lacksText, matchObject } from '../support/assertions.ts'
import { openedPage, fromProxy } from '../support/controller-page.ts'

const place = '/gatewaysyncs/north/line-north'
const by = (user: string): http.OutgoingHttpHeaders => ({ ...fromProxy, 'x-forwarded-user': user })
const ours = { 'sec-fetch-site': 'same-origin' }
const pause = `${place}/actions/pause`

/** Opens the confirmation page of an action in a browser of its own. */
async function question(t: Pick<Test, 'teardown'>, where = pause) {
  const page = await openedPage(t)
  const asked = await page.get(where, by('bob'))
  const cookie = (asked.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
  const token = /name="token" value="([^"]+)"/.exec(asked.text)?.[1] ?? ''
  const answer = (headers: http.OutgoingHttpHeaders, body = `token=${encodeURIComponent(token)}`, to = where) =>
    page.send('POST', to, { 'content-type': 'application/x-www-form-urlencoded', ...headers }, body)
  return { ...page, reviewed: page.asked, asked, cookie, token, answer }
}

void t.test("a confirmed action is written once, in the user's name, with an Event", async (t) => {
  const { answer, cookie, patched, told, asked } = await question(t)
  t.equal(asked.status, 200)
  t.match(asked.text, /done as bob and recorded in an Event/)
  const { status, headers } = await answer({ ...by('bob'), ...ours, cookie })
  t.strictSame([status, headers.location], [303, place])
  t.strictSame(patched, [
    { key: { namespace: 'north', name: 'line-north' }, body: { spec: { paused: true }, metadata: { resourceVersion: '1' } } },
  ])
  matchObject(t, told, [
    { reason: 'RequestedOnPage', regarding: { namespace: 'north', name: 'line-north' }, note: 'bob requested on the status page: Pause' },
  ])
})

void t.test('a sync request is written like a push, with the user as requester', async (t) => {
  const { answer, cookie, patched } = await question(t, `${place}/actions/sync`)
  t.equal((await answer({ ...by('bob'), ...ours, cookie })).status, 303)
  matchObject(t, patched[0]?.body, {
    metadata: {
      annotations: {
        'clustersync.io/requested-ref': 'main',
        'clustersync.io/requested-by': 'status page: bob',
        'clustersync.io/requested-spec-ref': 'main',
      },
    },
  })
})

void t.test('the form cookie is limited to this host, HTTPS, this site and no scripts', async (t) => {
  const { asked } = await question(t)
  const [cookie = ''] = asked.headers['set-cookie'] ?? []
  const [value = '', ...attributes] = cookie.split('; ')
  t.match(value, /^__Host-/)
  t.strictSame(attributes.toSorted(), ['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure'])
})

void t.test('a form from another site does nothing, whatever else it contains', async (t) => {
  const { answer, cookie, patched, port } = await question(t)
  const elsewhere: http.OutgoingHttpHeaders[] = [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: `http://127.0.0.1:${port}` },
    { 'sec-fetch-site': ['same-origin', 'cross-site'] },
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: `http://127.0.0.1:${port}.evil.example` },
  ]
  for (const headers of elsewhere) {
    const { status, text } = await answer({ ...by('bob'), cookie, ...headers })
    t.equal(status, 403, JSON.stringify(headers))
    containsText(t, text, 'The request did not come from this site')
  }
  t.strictSame(patched, [])
  const { status } = await answer({ ...by('bob'), cookie, origin: `http://127.0.0.1:${port}` })
  t.equal(status, 303, 'a browser that says only its origin')
})

void t.test('a changed or missing token, or one of another browser, user, GatewaySync or action does nothing', async (t) => {
  const { answer, cookie, token, patched } = await question(t)
  const mine = { ...by('bob'), ...ours, cookie }
  const flipped = token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  const later = token.replace(/^\d+/, (until) => String(Number(until) + 600))
  for (const body of ['', 'token=', `token=${flipped}`, `token=${later}`, `token=${token}x`, 'token=1.x'])
    t.equal((await answer(mine, body)).status, 403, body)
  t.equal((await answer({ ...mine, cookie: '' })).status, 403, 'no cookie')
  t.equal((await answer({ ...mine, cookie: `__Host-cluster-sync-form=${'A'.repeat(22)}` })).status, 403, 'the cookie of another browser')
  t.equal((await answer({ ...mine, ...by('ann') })).status, 403, 'another person')
  for (const to of [`${place}/actions/sync`, '/gatewaysyncs/south/line-south/actions/pause', `${pause}?of=x`])
    t.equal((await answer(mine, undefined, to)).status, 403, to)
  t.strictSame(patched, [])
})

void t.test('a user with read-only permissions sees no action, gets no form and changes nothing', async (t) => {
  const { get, patched } = await question(t)
  containsText(t, (await get(place, by('bob'))).text, '/actions/pause')
  lacksText(t, (await get(place, by('ann'))).text, '/actions/')
  const { status, text } = await get(pause, by('ann'))
  t.strictSame([status, text.includes('name="token"')], [403, false])
  containsText(t, text, 'permission to patch')
  const hidden = await get('/gatewaysyncs/south/line-south/actions/pause', by('ann'))
  t.equal(hidden.status, 404, 'and what is hidden is not there')
  t.strictSame(patched, [])
})

void t.test('a permission revoked between form and submit no longer applies', async (t) => {
  const { answer, cookie, patched, setAway } = await question(t)
  setAway()
  const { status, text } = await answer({ ...by('bob'), ...ours, cookie })
  t.equal(status, 503)
  lacksText(t, text, 'name="token"')
  t.strictSame(patched, [])
})

void t.test('form and submit report an unreachable API server, not a missing GatewaySync', async (t) => {
  const { answer, cookie, get, patched, setAway } = await question(t)
  setAway()
  const asked = await get(pause, by('bert'))
  t.strictSame([asked.status, asked.text.includes('name="token"')], [503, false])
  containsText(t, asked.text, 'The cluster does not answer')
  const answered = await answer({ ...by('bert'), ...ours, cookie })
  t.equal(answered.status, 503)
  containsText(t, answered.text, 'The cluster does not answer')
  t.strictSame(patched, [])
})

void t.test('forms, refusals and the account page are static; the sync page is live', async (t) => {
  const { asked, answer, cookie, get } = await question(t)
  const refused = await answer({ ...by('bob'), cookie })
  for (const { text } of [asked, refused, await get('/account', by('bob'))]) t.notMatch(text, /<script|id="stale"/)
  t.match((await get(place, by('bob'))).text, /<script[^]*id="stale"/)
})

void t.test('the API server gets no access review for a made-up or hidden object', async (t) => {
  const { get, answer, cookie, reviewed } = await question(t)
  const before = reviewed.length
  for (const name of ['line-1', 'line-2', '__proto__']) {
    for (const where of [`/gatewaysyncs/north/${name}`, `/gatewaysyncs/${name}/line-north`]) {
      t.equal((await get(where, by('bob'))).status, 404)
      t.equal((await get(`${where}/actions/pause`, by('bob'))).status, 404)
      t.equal((await answer({ ...by('bob'), ...ours, cookie }, undefined, `${where}/actions/pause`)).status, 404)
    }
  }
  t.equal((await get('/gatewaysyncs/south/line-south', by('ann'))).status, 404)
  t.strictSame(
    reviewed.slice(before).filter(({ user, resourceAttributes: { verb } }) => verb === 'patch' || user === 'bob'),
    [],
  )
})

void t.test('a user may confirm at most ten actions a minute', async (t) => {
  const { answer, cookie, patched } = await question(t)
  const mine = { ...by('bob'), ...ours, cookie }
  const statuses: (number | undefined)[] = []
  for (let index = 0; index < 12; index += 1) statuses.push((await answer(mine)).status)
  t.strictSame(statuses, [...Array.from({ length: 10 }, () => 303), 429, 429])
  t.equal(patched.length, 10)
})

void t.test('an oversized form is not read, and an unknown action is not found', async (t) => {
  const { answer, cookie, send, patched } = await question(t)
  const mine = { ...by('bob'), ...ours, cookie }
  t.equal((await answer(mine, `token=${'x'.repeat(5_000)}`)).status, 413)
  for (const to of ['delete', 'toString', '__proto__']) t.equal((await answer(mine, undefined, `${place}/actions/${to}`)).status, 404, to)
  t.equal((await send('POST', place, mine)).status, 404)
  t.strictSame(patched, [])
})

void t.test('an action that is no longer possible is refused with a reason', async (t) => {
  const { get } = await question(t)
  const { status, text } = await get(`${place}/actions/rollback?of=${'ab'.repeat(20)}`, by('bob'))
  t.equal(status, 409)
  containsText(t, text, 'nothing that GatewaySync &quot;line-north&quot;')
})

void t.test("the account page shows the user's name and groups", async (t) => {
  const { get } = await question(t)
  const { text } = await get('/account', { ...by('bob'), 'x-forwarded-groups': 'line-1, engineers' })
  for (const word of ['bob', 'line-1', 'engineers']) containsText(t, text, word)
})
