/**
 * Nobody gets somebody else to do something on the status page, nor does more there than they may: a form counts only from a page of ours,
 * in the browser, the name and for the act that it was made for, and only where the API server would let that person patch.
 */
import type * as http from 'node:http'
import t, { type Test } from 'tap'
import { openedPage, proved } from '../support/controller-page.ts'

const place = '/gatewaysyncs/north/line-north'
const by = (user: string): http.OutgoingHttpHeaders => ({ ...proved, 'x-forwarded-user': user })
const ours = { 'sec-fetch-site': 'same-origin' }
const pause = `${place}/actions/pause`

/** The page with the question before an act, in a browser of its own. */
async function question(t: Pick<Test, 'teardown'>, where = pause) {
  const page = await openedPage(t)
  const asked = await page.get(where, by('bob'))
  const cookie = (asked.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
  const token = /name="token" value="([^"]+)"/.exec(asked.text)?.[1] ?? ''
  const answer = (headers: http.OutgoingHttpHeaders, body = `token=${encodeURIComponent(token)}`, to = where) =>
    page.send('POST', to, { 'content-type': 'application/x-www-form-urlencoded', ...headers }, body)
  return { ...page, reviewed: page.asked, asked, cookie, token, answer }
}

void t.test('what is confirmed is written once, in the name of who did it, and an Event says so', async (t) => {
  const { answer, cookie, patched, told, asked } = await question(t)
  t.equal(asked.status, 200)
  t.match(asked.text, /done in your name \(bob\)/)
  const { status, headers } = await answer({ ...by('bob'), ...ours, cookie })
  t.same([status, headers.location], [303, place])
  t.same(patched, [
    { key: { namespace: 'north', name: 'line-north' }, body: { spec: { paused: true }, metadata: { resourceVersion: '1' } } },
  ])
  t.match(told, [
    { reason: 'RequestedOnPage', regarding: { namespace: 'north', name: 'line-north' }, note: 'bob asked on the status page: Pause' },
  ])
})

void t.test('a request for a sync is what a push would write, requested by who asked', async (t) => {
  const { answer, cookie, patched } = await question(t, `${place}/actions/sync`)
  t.equal((await answer({ ...by('bob'), ...ours, cookie })).status, 303)
  t.match(patched[0]?.body, {
    metadata: {
      annotations: {
        'clustersync.io/requested-ref': 'main',
        'clustersync.io/requested-by': 'status page: bob',
        'clustersync.io/requested-spec-ref': 'main',
      },
    },
  })
})

void t.test('the cookie of forms is for this host over HTTPS, and for no script and no other site', async (t) => {
  const { asked } = await question(t)
  const [cookie = ''] = asked.headers['set-cookie'] ?? []
  for (const word of ['__Host-', 'Path=/', 'Secure', 'HttpOnly', 'SameSite=Strict']) t.match(cookie, word)
  t.notMatch(cookie, 'Domain')
})

void t.test('a form from elsewhere does nothing, whatever else it has', async (t) => {
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
    t.match(text, 'did not come from a page of ours')
  }
  t.same(patched, [])
  const { status } = await answer({ ...by('bob'), cookie, origin: `http://127.0.0.1:${port}` })
  t.equal(status, 303, 'a browser that says only its origin')
})

void t.test('a token of another browser, person, GatewaySync or act, a changed one and none do nothing', async (t) => {
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
  t.same(patched, [])
})

void t.test('who may only look sees no action, is asked nothing and does nothing', async (t) => {
  const { get, patched } = await question(t)
  t.match((await get(place, by('bob'))).text, '/actions/pause')
  t.notMatch((await get(place, by('ann'))).text, '/actions/')
  const { status, text } = await get(pause, by('ann'))
  t.same([status, text.includes('name="token"')], [403, false])
  t.match(text, 'right to patch')
  const hidden = await get('/gatewaysyncs/south/line-south/actions/pause', by('ann'))
  t.equal(hidden.status, 404, 'and what is hidden is not there')
  t.same(patched, [])
})

void t.test('a right that was taken away between question and answer is gone', async (t) => {
  const { answer, cookie, patched, setAway } = await question(t)
  setAway()
  const { status, text } = await answer({ ...by('bob'), ...ours, cookie })
  t.equal(status, 503)
  t.notMatch(text, 'name="token"')
  t.same(patched, [])
})

void t.test('while nobody can say what somebody sees, question and answer say so, and not that there is nothing', async (t) => {
  const { answer, cookie, get, patched, setAway } = await question(t)
  setAway()
  const asked = await get(pause, by('bert'))
  t.same([asked.status, asked.text.includes('name="token"')], [503, false])
  t.match(asked.text, 'The cluster does not answer')
  const answered = await answer({ ...by('bert'), ...ours, cookie })
  t.equal(answered.status, 503)
  t.match(answered.text, 'The cluster does not answer')
  t.same(patched, [])
})

void t.test('a question, a refusal and an account stay as they are; what changes by itself is live', async (t) => {
  const { asked, answer, cookie, get } = await question(t)
  const refused = await answer({ ...by('bob'), cookie })
  for (const { text } of [asked, refused, await get('/account', by('bob'))]) t.notMatch(text, /<script|id="stale"/)
  t.match((await get(place, by('bob'))).text, /<script[^]*id="stale"/)
})

void t.test('the API server is asked about nothing that is made up or hidden', async (t) => {
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
  t.same(
    reviewed.slice(before).filter(({ user, resourceAttributes: { verb } }) => verb === 'patch' || user === 'bob'),
    [],
  )
})

void t.test('no more than ten acts of one person a minute', async (t) => {
  const { answer, cookie, patched } = await question(t)
  const mine = { ...by('bob'), ...ours, cookie }
  const statuses: (number | undefined)[] = []
  for (let index = 0; index < 12; index += 1) statuses.push((await answer(mine)).status)
  t.same(statuses, [...Array.from({ length: 10 }, () => 303), 429, 429])
  t.equal(patched.length, 10)
})

void t.test('a body beyond what a form has is not read, and what is no action is not there', async (t) => {
  const { answer, cookie, send, patched } = await question(t)
  const mine = { ...by('bob'), ...ours, cookie }
  t.equal((await answer(mine, `token=${'x'.repeat(5_000)}`)).status, 413)
  for (const to of ['delete', 'toString', '__proto__']) t.equal((await answer(mine, undefined, `${place}/actions/${to}`)).status, 404, to)
  t.equal((await send('POST', place, mine)).status, 404)
  t.same(patched, [])
})

void t.test('a question that makes no sense any more says so', async (t) => {
  const { get } = await question(t)
  const { status, text } = await get(`${place}/actions/rollback?of=${'ab'.repeat(20)}`, by('bob'))
  t.equal(status, 409)
  t.match(text, 'nothing that GatewaySync &quot;line-north&quot;')
})

void t.test('the page says whom it takes somebody for', async (t) => {
  const { get } = await question(t)
  const { text } = await get('/account', { ...by('bob'), 'x-forwarded-groups': 'line-1, engineers' })
  for (const word of ['bob', 'line-1', 'engineers']) t.match(text, word)
})
