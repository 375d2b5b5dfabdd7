/**
 * The login of the status page cannot be bypassed: not without the proxy secret, not with names that mean more than one user, not with a
 * page rendered for another user, and not while permissions cannot be checked.
 */
import t from 'tap'
import { containsText, lacksText, matchObject } from '../support/assertions.ts'
import { openedPage, pageSecret, fromProxy } from '../support/controller-page.ts'

const line = '/gatewaysyncs/north/line-north'
const places = [
  '/',
  '/?q=line',
  line,
  `${line}/actions/sync`,
  `${line}/commits/${'1a2b3c4d'.repeat(5)}`,
  `${line}/gateways/gw-0`,
  '/account',
  '/status.json',
  '/events',
  '/nothing',
]

void t.test('headers without the proxy secret, or with a wrong one, are unauthenticated', async (t) => {
  const { get, asked } = await openedPage(t)
  const wrong = ['', 'x', pageSecret.slice(0, -1), `${pageSecret}x`, pageSecret.toUpperCase(), `${pageSecret}, ${pageSecret}`]
  for (const place of places) {
    t.equal((await get(place, { 'x-forwarded-user': 'bob' })).status, 401, place)
    for (const one of wrong) t.equal((await get(place, { 'x-forwarded-user': 'bob', 'x-cluster-sync-proxy-secret': one })).status, 401, one)
  }
  t.strictSame(asked, [], 'and nobody is asked about')
})

void t.test('a missing, empty or short secret authenticates no user', async (t) => {
  for (const written of ['', '\n', 'short\n']) {
    const { get } = await openedPage(t, written)
    for (const shown of [written.trim(), '']) {
      t.equal((await get('/', { 'x-forwarded-user': 'bob', 'x-cluster-sync-proxy-secret': shown })).status, 401, JSON.stringify(written))
    }
  }
  const { get } = await openedPage(t, undefined)
  t.equal((await get('/', { 'x-forwarded-user': 'bob', 'x-cluster-sync-proxy-secret': '' })).status, 401)
})

void t.test('the user name must be exactly one user and not a system account', async (t) => {
  const { get, asked } = await openedPage(t)
  const names: (string | string[])[] = [
    '',
    ' ',
    'system:admin',
    'system:serviceaccount:kube-system:default',
    'ann, bob',
    ['bob', 'ann'],
    'b'.repeat(300),
  ]
  for (const name of names) t.equal((await get('/', { ...fromProxy, 'x-forwarded-user': name })).status, 401, JSON.stringify(name))
  t.equal((await get('/', fromProxy)).status, 401)
  const { text } = await get('/', { ...fromProxy, 'x-forwarded-user': 'eve', 'x-forwarded-groups': 'a, system:masters,system:nodes ,b' })
  lacksText(t, text, 'line-north')
  t.strictSame(new Set(asked.flatMap(({ groups }) => groups)), new Set(['a', 'b', 'system:authenticated']))
})

void t.test("a groups header that occurs twice is unauthenticated, since one may be the caller's", async (t) => {
  const { get, asked } = await openedPage(t)
  const both = { ...fromProxy, 'x-forwarded-user': 'ann', 'x-forwarded-groups': ['operators', 'engineers'] }
  for (const place of places) t.equal((await get(place, both)).status, 401, place)
  t.strictSame(asked, [])
})

void t.test('non-ASCII names are decoded as the proxy wrote them', async (t) => {
  const { get, asked } = await openedPage(t)
  const onTheWire = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
  const people = ['ÄÖÜß', 'Jörg Müller', 'Anaïs à', '山田']
  const groups = ['Straße Ä', 'voilà', 'Ōsaka']
  for (const person of people) {
    const headers = { ...fromProxy, 'x-forwarded-user': onTheWire(person), 'x-forwarded-groups': onTheWire(groups.join(', ')) }
    t.equal((await get('/', headers)).status, 200, person)
  }
  t.strictSame(new Set(asked.map(({ user }) => user)), new Set(people))
  t.strictSame(new Set(asked.flatMap((spec) => spec.groups)), new Set([...groups, 'system:authenticated']))
  const latin = Buffer.from('Jörg', 'latin1').toString('latin1')
  t.equal((await get('/', { ...fromProxy, 'x-forwarded-user': latin })).status, 200)
  t.equal(asked.at(-1)?.user, 'Jörg', 'also of a proxy that writes Latin-1')
  const control = onTheWire('ann\u0085')
  t.equal((await get('/', { ...fromProxy, 'x-forwarded-user': control })).status, 401, 'a control character')
})

void t.test('a page rendered for another user is never served, compressed or not', async (t) => {
  const { get } = await openedPage(t)
  for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
    for (const place of ['/', '/?q=line', '/status.json']) {
      const all = await get(place, { ...fromProxy, ...headers, 'x-forwarded-user': 'bob' })
      const own = await get(place, { ...fromProxy, ...headers, 'x-forwarded-user': 'ann' })
      t.equal(all.status, 200)
      t.not(own.text, all.text, place)
    }
  }
  const { text } = await get('/', { ...fromProxy, 'x-forwarded-user': 'ann' })
  containsText(t, text, 'line-north')
  lacksText(t, text, 'south')
  t.equal((await get('/gatewaysyncs/south/line-south', { ...fromProxy, 'x-forwarded-user': 'bob' })).status, 200)
  const hidden = await get('/gatewaysyncs/south/line-south', { ...fromProxy, 'x-forwarded-user': 'ann' })
  const missing = await get('/gatewaysyncs/south/nothing', { ...fromProxy, 'x-forwarded-user': 'ann' })
  t.strictSame([hidden.status, hidden.text], [404, missing.text], 'what is hidden looks as what is not there')
})

void t.test('a page shows nothing while permissions cannot be checked', async (t) => {
  const { get, setAway } = await openedPage(t)
  setAway()
  for (const place of ['/', '/status.json', '/gatewaysyncs/north/line-north']) {
    const { status, text } = await get(place, { ...fromProxy, 'x-forwarded-user': 'bob' })
    t.equal(status, 503, place)
    t.notMatch(text, /line-|away/)
  }
})

void t.test('a browser navigation is refused with a localized page, a script with a problem document', async (t) => {
  const { get, setAway } = await openedPage(t)
  const follows = { accept: 'text/html,*/*', 'sec-fetch-dest': 'document' }
  const nobody = await get(line, follows)
  t.equal(nobody.status, 401)
  containsText(t, nobody.text, 'The login proxy in front of this page did not identify you')
  containsText(t, (await get(line, { ...follows, 'accept-language': 'de' })).text, 'weist Sie nicht aus')
  lacksText(t, nobody.text, '/account', 'nobody has no account')
  matchObject(t, JSON.parse((await get(line, { ...follows, 'sec-fetch-dest': 'empty' })).text), { status: 401 })
  setAway()
  const bob = { ...fromProxy, 'x-forwarded-user': 'bob' }
  const away = await get('/', { ...follows, ...bob })
  t.equal(away.status, 503)
  containsText(t, away.text, 'Your permissions cannot be checked at the moment')
  containsText(t, (await get('/', { ...follows, ...bob, 'accept-language': 'de' })).text, 'Zurzeit lässt sich nicht feststellen')
  matchObject(t, JSON.parse((await get('/', { accept: 'text/html', 'sec-fetch-dest': 'empty', ...bob })).text), { status: 503 })
})

void t.test('no answer contains the proxy secret', async (t) => {
  const { get } = await openedPage(t)
  for (const place of places) lacksText(t, (await get(place, { ...fromProxy, 'x-forwarded-user': 'bob' })).text, pageSecret, place)
})
