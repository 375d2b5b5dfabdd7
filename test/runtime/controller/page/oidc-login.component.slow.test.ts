/**
 * Login to the status page through a real OpenID Connect provider over TLS: successful logins, refused ones, sessions and logout.
 */
import { writeFileSync } from 'node:fs'
import * as http from 'node:http'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { attemptCookie } from '../../../../runtime/statuspage/login/sealed.ts'
import { containsText, lacksText, matchObject } from '../../../support/assertions.ts'
import { openController } from '../../../support/controller-page.ts'
import { clientSecret, createBrowser, startIdentityProvider } from '../../../support/identity-provider.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const externalURL = 'https://gateways.example'
/** The prefix of the login cookie names. */
const attempts = '__Host-cluster-sync-login-'
const callback = /^https:\/\/gateways\.example\/login\/callback/
const people = {
  bob: { preferred_username: 'bob', groups: ['line-1', 'engineers', 'system:masters'] },
  ann: { preferred_username: 'ann', groups: 'line-1' },
  root: { preferred_username: 'system:admin', groups: [] },
  nobody: { groups: ['line-1'] },
  many: { preferred_username: 'many', groups: Array.from({ length: 300 }, (_, index) => `group-${index}`) },
  azure: { preferred_username: 'azure', _claim_names: { groups: 'src1' } },
}

type Settings = {
  sessionLifetime?: string
  usernameClaim?: string
  clientID?: string
  secrets?: Record<string, string>
  tick?: () => number
  /** The provider of another page; by default each page has its own. */
  at?: Awaited<ReturnType<typeof startIdentityProvider>>
}

async function opened(
  t: Test,
  { sessionLifetime = '10m', usernameClaim = 'preferred_username', clientID = 'status-page', secrets, tick, at }: Settings = {},
) {
  const provider = at ?? (await startIdentityProvider(t, { people, externalURL }))
  const secretFolder = temporaryFolder(t, 'page-login')
  for (const [name, text] of Object.entries(secrets ?? { 'client-secret': clientSecret, 'ca.crt': provider.caBundle }))
    writeFileSync(path.join(secretFolder, name), text === '' ? provider.caBundle : text)
  const { issuer } = provider
  const oidc = { issuer, clientID, secretFolder, externalURL, scopes: ['profile', 'email'], usernameClaim, groupsClaim: 'groups' }
  const passed = tick ?? (() => 0)
  const clock = {
    ...systemClock,
    now: () => Temporal.Now.instant().add({ milliseconds: passed() }),
    monotonicMs: () => systemClock.monotonicMs() + passed(),
  }
  const page = await openController(t, { oidc: { ...oidc, usernamePrefix: '', groupsPrefix: 'oidc:', sessionLifetime } }, { clock })
  const browser = () => createBrowser(provider.caBundle, { [externalURL]: `http://127.0.0.1:${page.port}` })
  return { ...page, provider, browser, secretFolder }
}

void t.test('a user logs in, returns to the requested page, runs an action, and is logged out after the logout', async (t) => {
  const { browser, patched, provider } = await opened(t)
  const { get, send, logIn, cookies } = browser()
  const place = `${externalURL}/gatewaysyncs/north/line-north`
  const back = await logIn(place, 'bob', callback)
  containsText(t, back, 'code=')
  const home = await get(back)
  t.strictSame([home.status, home.headers.location], [303, '/gatewaysyncs/north/line-north'])
  const session = (home.headers['set-cookie'] ?? []).find((cookie) => cookie.startsWith('__Host-cluster-sync-session='))
  t.strictSame(session?.split('; ').slice(1).toSorted(), ['HttpOnly', 'Max-Age=600', 'Path=/', 'SameSite=Lax', 'Secure'])
  containsText(t, (await get(place)).text, 'actions/pause')
  const account = (await get(`${externalURL}/account`)).text
  for (const word of ['bob', 'oidc:line-1', 'oidc:engineers', 'Log out']) containsText(t, account, word)
  lacksText(t, account, '<code>system:masters', 'groups have their prefix')
  const question = await get(`${place}/actions/pause`)
  const token = /name="token" value="([^"]+)"/.exec(question.text)?.[1] ?? ''
  t.equal((await send('POST', `${place}/actions/pause`, new URLSearchParams({ token }).toString())).status, 303)
  t.equal(patched.length, 1)
  for (const { text, headers } of [home, question, await get(`${externalURL}/status.json`)]) {
    lacksText(t, text, clientSecret)
    lacksText(t, JSON.stringify(headers), clientSecret)
  }
  t.equal((await send('POST', `${externalURL}/logout`, '', { 'sec-fetch-site': 'cross-site' })).status, 403, 'nobody else logs them out')
  t.equal((await get(place)).status, 200)
  const out = await send('POST', `${externalURL}/logout`, '')
  t.equal(out.status, 200)
  containsText(t, String(out.headers['refresh']), `0; url=${provider.issuer}/session/end?`)
  containsText(t, String(out.headers['refresh']), encodeURIComponent(`${externalURL}/logged-out`))
  t.notOk(cookies(externalURL).has('__Host-cluster-sync-session'))
  t.strictSame([(await get(place)).status, (await get(place)).headers.location?.split('?')[0]], [303, '/login'])
})

void t.test('without a session every page redirects to the login, and scripts get 401', async (t) => {
  const { browser } = await opened(t)
  const { get, send } = browser()
  for (const where of ['/', '/gatewaysyncs/north/line-north?page=2', '/account', '/status.json']) {
    const { status, headers, text } = await get(`${externalURL}${where}`)
    t.strictSame([status, headers.location], [303, `/login?to=${encodeURIComponent(where)}`])
    lacksText(t, text, 'line-north')
  }
  t.equal((await get(`${externalURL}/events`, { 'sec-fetch-dest': 'empty' })).status, 401)
  t.equal((await get(`${externalURL}/status.json`, { 'sec-fetch-dest': 'empty' })).status, 401)
  t.equal((await send('POST', `${externalURL}/gatewaysyncs/north/line-north/actions/pause`, 'token=x')).status, 401)
  const forged = { cookie: '__Host-cluster-sync-session=eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..AAAA.AAAA.AAAA' }
  t.equal((await get(`${externalURL}/`, forged)).status, 303)
})

void t.test('the login uses the code flow with PKCE, state and nonce, new for each attempt', async (t) => {
  const { browser, provider } = await opened(t)
  const asked = [await browser().get(`${externalURL}/login`), await browser().get(`${externalURL}/login`)].map(
    ({ headers }) => new URL(headers.location ?? ''),
  )
  for (const { origin, searchParams } of asked) {
    t.equal(origin, provider.issuer)
    matchObject(t, Object.fromEntries(searchParams), {
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${externalURL}/login/callback`,
      scope: 'openid profile email',
    })
  }
  for (const name of ['state', 'nonce', 'code_challenge']) t.not(asked[0]?.searchParams.get(name), asked[1]?.searchParams.get(name), name)
})

void t.test('a login from another browser, or a modified, reused or aborted one, creates no session', async (t) => {
  const { browser } = await opened(t)
  const { get, logIn, cookies } = browser()
  const back = await logIn(`${externalURL}/login`, 'bob', callback)
  const stranger = await browser().get(back)
  t.equal(stranger.status, 400, 'another browser')
  containsText(t, stranger.text, 'another browser')
  const [[name, kept] = ['', '']] = [...cookies(externalURL)].filter(([name]) => name.startsWith(attempts))
  const again = { cookie: `${name}=${kept}` }
  t.equal((await browser().get(back.replace(/state=[^&]+/, 'state=another'), again)).status, 400, 'another state')
  const renamed = { cookie: `${attemptCookie('another')}=${kept}` }
  const other = await browser().get(back.replace(/state=[^&]+/, 'state=another'), renamed)
  t.equal(other.status, 400, 'another state, with the cookie under its name')
  containsText(t, other.text, 'does not identify you')
  const denied = await browser().get(
    `${externalURL}/login/callback?error=access_denied&${back.split('?')[1]?.replace(/code=[^&]+&?/, '')}`,
    again,
  )
  t.equal(denied.status, 403)
  containsText(t, denied.text, 'access_denied')
  t.equal((await get(back)).status, 303)
  t.equal((await get(back)).status, 400, 'a second time in this browser')
  const replayed = await browser().get(back, again)
  t.equal(replayed.status, 400, 'the code a second time, with the cookie of before')
  lacksText(t, JSON.stringify(replayed.headers), 'cluster-sync-session=ey')
})

void t.test('an answer with another nonce or none is refused', async (t) => {
  const { browser } = await opened(t)
  for (const forge of [(url: URL) => url.searchParams.set('nonce', 'of-somebody-else'), (url: URL) => url.searchParams.delete('nonce')]) {
    const { get, logIn, cookies } = browser()
    const asked = new URL((await get(`${externalURL}/login`)).headers.location ?? '')
    forge(asked)
    const answer = await get(await logIn(asked.href, 'bob', callback))
    t.equal(answer.status, 400)
    containsText(t, answer.text, 'does not identify you')
    t.strictSame([...cookies(externalURL).keys()], [], 'nobody is in, and nothing of the attempt is left')
  }
})

void t.test('two windows of one browser log in concurrently, each to its requested page', async (t) => {
  const { browser } = await opened(t)
  const { get, logIn, cookies } = browser()
  const first = await logIn(`${externalURL}/login?to=/account`, 'bob', callback)
  const second = await logIn(`${externalURL}/login?to=/?q=line`, 'bob', callback)
  t.equal([...cookies(externalURL).keys()].filter((name) => name.startsWith(attempts)).length, 2)
  t.strictSame([(await get(first)).headers.location, (await get(second)).headers.location], ['/account', '/?q=line'])
  t.strictSame([...cookies(externalURL).keys()], ['__Host-cluster-sync-session'])
})

void t.test('a browser keeps the last four unfinished logins', async (t) => {
  const { browser } = await opened(t)
  const { get, cookies } = browser()
  const states: string[] = []
  for (let index = 0; index < 7; index += 1) {
    const { location } = (await get(`${externalURL}/login`)).headers
    states.push(new URL(location ?? '').searchParams.get('state') ?? '')
  }
  t.strictSame([...cookies(externalURL).keys()], states.slice(-4).map(attemptCookie))
})

void t.test('a reserved name, a missing name and too many groups are refused with the reason', async (t) => {
  const { browser } = await opened(t)
  for (const [who, words] of Object.entries({
    root: 'the cluster reserves the name',
    nobody: 'usernameClaim',
    many: 'more groups',
    azure: 'more groups',
  })) {
    const { get, logIn } = browser()
    const answer = await get(await logIn(`${externalURL}/login`, who, callback))
    t.equal(answer.status, 403, who)
    containsText(t, answer.text, words)
    t.equal((await get(`${externalURL}/`)).status, 303, `${who} is not in`)
  }
})

void t.test('a user sees and changes only what its groups permit', async (t) => {
  const { browser, patched } = await opened(t)
  const { get, logIn } = browser()
  await get(await logIn(`${externalURL}/login`, 'ann', callback))
  containsText(t, (await get(`${externalURL}/`)).text, 'line-north')
  lacksText(t, (await get(`${externalURL}/`)).text, 'line-south')
  t.equal((await get(`${externalURL}/gatewaysyncs/north/line-north/actions/pause`)).status, 403)
  t.strictSame(patched, [])
})

void t.test('a session ends after its lifetime', async (t) => {
  let passed = 0
  const { browser } = await opened(t, { sessionLifetime: '1m', tick: () => passed })
  const { get, logIn } = browser()
  await get(await logIn(`${externalURL}/login`, 'bob', callback))
  t.equal((await get(`${externalURL}/`)).status, 200)
  passed = 60_001
  t.equal((await get(`${externalURL}/`)).status, 303)
})

void t.test('the event stream ends with the session, after it has triggered a reload of the page', async (t) => {
  let passed = 0
  const { browser, put, port } = await opened(t, { sessionLifetime: '1m', tick: () => passed })
  const { get, logIn, cookies } = browser()
  await get(await logIn(`${externalURL}/login`, 'bob', callback))
  const cookie = [...cookies(externalURL)].map(([name, value]) => `${name}=${value}`).join('; ')
  const events = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get(`http://127.0.0.1:${port}/events`, { headers: { cookie }, agent: false }, resolve).on('error', reject)
  })
  t.equal(events.statusCode, 200)
  passed = 60_001
  put('north')
  const heard = Buffer.concat((await events.toArray()) as Buffer[]).toString('utf8')
  containsText(t, heard, 'event: changed')
  t.equal((await get(`${externalURL}/events`, { 'sec-fetch-dest': 'empty' })).status, 401)
})

void t.test('a rotated session key keeps sessions valid, and removing the old key ends them', async (t) => {
  const keys = (text: string) => ({ 'client-secret': clientSecret, 'ca.crt': '', 'session-key': text })
  const first = await opened(t, { secrets: keys('the first key of sessions\n') })
  const mine = first.browser()
  await mine.get(await mine.logIn(`${externalURL}/login`, 'bob', callback))
  const cookie = `__Host-cluster-sync-session=${mine.cookies(externalURL).get('__Host-cluster-sync-session') ?? ''}`
  const rotated = await opened(t, { at: first.provider, secrets: keys('the second key of sessions\nthe first key of sessions\n') })
  t.equal((await rotated.browser().get(`${externalURL}/`, { cookie })).status, 200, 'another replica, or after a rotation')
  const over = await opened(t, { at: first.provider, secrets: keys('the second key of sessions\n') })
  t.equal((await over.browser().get(`${externalURL}/`, { cookie })).status, 303)
  const elsewhere = await opened(t, { secrets: keys('the first key of sessions\n') })
  t.equal((await elsewhere.browser().get(`${externalURL}/`, { cookie })).status, 303, 'the same key says nothing behind another provider')
})

void t.test('a provider that is down, untrusted or rejects the client gives a plain message and no session', async (t) => {
  const down = await opened(t)
  await down.provider.stop()
  const away = await down.browser().get(`${externalURL}/login`)
  t.equal(away.status, 503)
  containsText(t, away.text, 'does not answer')
  t.notMatch(away.text, /ECONNREFUSED|localhost/)
  const untrusted = await opened(t, { secrets: { 'client-secret': clientSecret } })
  t.equal((await untrusted.browser().get(`${externalURL}/login`)).status, 503)
  const wrong = await opened(t, { secrets: { 'client-secret': 'not the secret of the client', 'ca.crt': '' } })
  const { get, logIn } = wrong.browser()
  const refused = await get(await logIn(`${externalURL}/login`, 'bob', callback))
  t.equal(refused.status, 400)
  containsText(t, refused.text, 'does not identify you')
  const none = await opened(t, { secrets: {} })
  const answer = await none.browser().get(`${externalURL}/login`)
  t.equal(answer.status, 503)
  containsText(t, answer.text, 'statusPage.oidc.secretRef')
})

void t.test('a login never redirects to another site', async (t) => {
  const { browser } = await opened(t)
  for (const to of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/gatewaysyncs//evil.example',
    'javascript:alert(1)',
    '/login',
    '/x\r\nset-cookie: a=b',
  ]) {
    const { get, logIn } = browser()
    const back = await logIn(`${externalURL}/login?to=${encodeURIComponent(to)}`, 'bob', callback)
    t.equal((await get(back)).headers.location, '/', JSON.stringify(to))
  }
})
