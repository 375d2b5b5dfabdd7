/**
 * Tests the OpenID Connect login in a real browser, with a certified provider over TLS: login, an action with confirmation, logout, and an
 * open page with an expired session.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { makeAuthority } from '../../../support/authority.ts'
import { axeFindings, openBrowser, type Page } from '../../../support/browser.ts'
import { openController } from '../../../support/controller-page.ts'
import { clientSecret, startIdentityProvider } from '../../../support/identity-provider.ts'
import { freePort } from '../../../support/ports.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const people = { bob: { preferred_username: 'bob', groups: ['line-1'] }, ann: { preferred_username: 'ann', groups: [] } }
const line = '/gatewaysyncs/north/line-north'

async function opened(t: Test) {
  const folder = temporaryFolder(t, 'login-browser')
  const port = await freePort()
  const externalURL = `https://localhost:${port}`
  const provider = await startIdentityProvider(t, { people, externalURL })
  writeFileSync(path.join(folder, 'client-secret'), clientSecret)
  writeFileSync(path.join(folder, 'ca.crt'), provider.caBundle)
  const { server } = await makeAuthority(path.join(folder, 'tls'), 'page', ['localhost'])
  let passedMs = 0
  const clock = { ...systemClock, now: () => Temporal.Now.instant().add({ milliseconds: passedMs }) }
  const oidc = {
    issuer: provider.issuer,
    clientID: 'status-page',
    secretFolder: folder,
    externalURL,
    scopes: ['profile'],
    usernameClaim: 'preferred_username',
    groupsClaim: 'groups',
    usernamePrefix: '',
    groupsPrefix: '',
    sessionLifetime: '10m',
  }
  const page = await openController(t, { oidc }, { clock, port, tls: { cert: server.certificate, key: server.key } })
  return { ...page, url: externalURL, pass: (ms: number) => (passedMs += ms) }
}

/** Fills in the login form of the provider until it redirects back to the status page. */
async function answers(page: Page, url: string, name: string): Promise<void> {
  await page.locator('input[name=login]').fill(name)
  await page.locator('input[name=password]').fill('x')
  await page.locator('button[type=submit]').click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(`${url}/**`)
}

async function withoutFindings(t: Test, page: Page, what: string): Promise<void> {
  t.strictSame(await axeFindings(page), [], `${what}: axe`)
}

void t.test('a user logs in to the requested page, confirms an action, and logs out of page and provider', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url, patched } = await opened(t)
  const page = await browser.page(`${url}${line}`)
  await answers(page, url, 'bob')
  t.equal(page.url(), `${url}${line}`)
  await withoutFindings(t, page, 'the GatewaySync')
  await page.getByRole('link', { name: 'Pause', exact: true }).click()
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
  containsText(t, await page.locator('main').innerText(), 'bob')
  await withoutFindings(t, page, 'the question')
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await page.waitForURL(`${url}${line}`)
  matchObject(t, patched, [{ body: { spec: { paused: true } } }])
  await page.locator('.banner.ok', { hasText: 'Requested' }).waitFor()
  await page.goto(`${url}/account`)
  await withoutFindings(t, page, 'the account')
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('button', { name: /sign me out/i }).click()
  await page.waitForURL(`${url}/logged-out`)
  await withoutFindings(t, page, 'the end')
  await page.goto(`${url}${line}`)
  t.notOk(page.url().startsWith(url), 'the provider asks anew')
  t.strictSame(browser.complaints, [])
})

void t.test('a read-only user sees no actions, and a direct request for one is refused', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url, patched } = await opened(t)
  const page = await browser.page(`${url}${line}`)
  await answers(page, url, 'ann')
  t.equal(await page.locator('nav.actions').count(), 0)
  t.equal((await page.goto(`${url}${line}/actions/pause`))?.status(), 403)
  await withoutFindings(t, page, 'the refusal')
  await page.goto(`${url}/login/callback?code=x&state=y`)
  containsText(t, await page.locator('main').innerText(), 'Log in again')
  await withoutFindings(t, page, 'a login that failed')
  t.strictSame(patched, [])
})

void t.test('an open page with an expired session says so, links to the login, and resumes after a login elsewhere', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url, pass, put } = await opened(t)
  const page = await browser.page(`${url}${line}`)
  await answers(page, url, 'bob')
  const banner = page.locator('#out')
  const paused = page.locator('.banner', { hasText: 'Paused' })
  put('north', { paused: true })
  await paused.waitFor()
  t.equal(await banner.isVisible(), false)
  pass(10 * 60_000)
  put('north')
  await banner.waitFor({ state: 'visible' })
  t.equal(await page.locator('#stale').isVisible(), false, 'one reason is enough')
  await withoutFindings(t, page, 'a page that is signed out')
  const other = await page.context().newPage()
  await other.goto(url)
  await other.waitForURL(`${url}/`)
  await page.evaluate("dispatchEvent(new Event('focus'))")
  await banner.waitFor({ state: 'hidden' })
  await paused.waitFor({ state: 'detached' })
  put('north', { paused: true })
  await paused.waitFor()
  pass(10 * 60_000)
  put('north')
  await banner.getByRole('link', { name: 'Log in' }).click()
  await page.waitForURL(`${url}${line}`)
  t.equal(await banner.isVisible(), false)
})
