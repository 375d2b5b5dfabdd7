/**
 * Tests the status page in a real browser: with and without JavaScript, by keyboard, and with a lost connection.
 */
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { axeFindings, openBrowser, type Page } from '../../../support/browser.ts'
import { fleetFacts, pod, report, syncFacts } from '../../../support/fleet-facts.ts'
import { openStatusPage, thousandGateways, twoLines } from '../../../support/status-page.ts'
import { until } from '../../../support/world.ts'

const banner = '#stale'
const isShown = async (page: Page, text: string): Promise<true | undefined> =>
  (await page.locator('main').innerText()).includes(text) ? true : undefined
const shows = async (page: Page, text: string): Promise<true> => await until(async () => await isShown(page, text), `"${text}" is shown`)

/** The same fleet with one gateway of another name. */
const withGateway = (name: string) =>
  fleetFacts({ syncs: [syncFacts('line-1')], pods: [pod(name, 'line-1')], reports: [report(name, 'line-1')] })

void t.test('a change appears without a reload and keeps the focus', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url, change } = await openStatusPage(t)
  const page = await browser.page(url)
  await page.locator('#q').focus()
  const seenMs: number[] = []
  for (const name of ['gw-new', 'gw-newer', 'gw-newest']) {
    const changedMs = performance.now()
    change(withGateway(name))
    await page.getByRole('link', { name, exact: true }).waitFor()
    seenMs.push(performance.now() - changedMs)
  }
  t.comment(`seen after ${seenMs.map(Math.round).join(', ')} ms`)
  t.ok(Math.min(...seenMs) < 2_000, 'a machine with other work may be late, but not each time')
  t.equal(await page.evaluate('document.activeElement.id'), 'q')
  t.equal(await page.locator(banner).isVisible(), false)
  t.strictSame(browser.complaints, [])
})

void t.test('while the server is down the page says that it may be outdated, and it recovers afterwards', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const first = await openStatusPage(t)
  const page = await browser.page(first.url)
  await shows(page, 'gw-0')
  await first.close()
  await page.locator(banner).waitFor({ state: 'visible' })
  const again = await openStatusPage(t, withGateway('gw-back'), { port: first.port })
  await page.locator(banner).waitFor({ state: 'hidden' })
  await shows(page, 'gw-back')
  again.change(withGateway('gw-after'))
  await shows(page, 'gw-after')
})

type Refusal = { status: number; text: string; paths: readonly string[] }

/** A proxy in front of the page at `url` that can refuse some of its paths. */
async function openProxy(t: Test, url: string) {
  let refusal: Refusal | undefined
  const server = createServer((request, response) => {
    if (refusal?.paths.includes(request.url ?? '') === true) {
      response.writeHead(refusal.status, { 'content-type': 'text/html' }).end(refusal.text)
      return
    }
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const passOn = async (): Promise<void> => {
      const answer = await fetch(`${url}${request.url}`, { signal: gone.signal })
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? '',
        'content-security-policy': answer.headers.get('content-security-policy') ?? '',
      })
      response.flushHeaders()
      for await (const chunk of answer.body ?? []) response.write(chunk)
      response.end()
    }
    passOn().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`,
    refuse: (next: Refusal | undefined) => (refusal = next),
    cut: () => server.closeAllConnections(),
  }
}

void t.test('an error response or the login page of a proxy does not replace the page', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const inner = await openStatusPage(t)
  const { url, refuse } = await openProxy(t, inner.url)
  const page = await browser.page(url)
  await shows(page, 'gw-0')
  // The stream is open once it has caused the page to be fetched again.
  for (const answer of [
    { status: 503, text: '{"status":503}' },
    { status: 200, text: '<main>Sign in</main>' },
  ]) {
    refuse({ ...answer, paths: ['/'] })
    await until(async () => {
      inner.change(withGateway('gw-hidden'))
      return (await page.locator(banner).isVisible()) ? true : undefined
    }, `${answer.text} is no news`)
    t.match(await page.locator('main').innerText(), /gw-0|gw-hidden/)
    refuse(undefined)
    await page.locator(banner).waitFor({ state: 'hidden' })
  }
})

void t.test('a page that was signed out resumes updates after a focus event or a server outage', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const inner = await openStatusPage(t)
  const { url, refuse, cut } = await openProxy(t, inner.url)
  const page = await browser.page(url)
  await page.clock.install()
  const refused = { text: '', paths: ['/', '/events'] }
  const focus = "dispatchEvent(new Event('focus'))"
  const backs = {
    'two windows come to the front': async () => {
      refuse(undefined)
      await page.evaluate(`${focus};${focus}`)
    },
    'the server is away for a moment': async () => {
      refuse({ ...refused, status: 503 })
      await page.evaluate(focus)
      await page.locator(banner).waitFor({ state: 'visible' })
      refuse(undefined)
      await page.clock.fastForward(5_000)
    },
  }
  for (const [what, comesBack] of Object.entries(backs)) {
    await shows(page, 'gw-0')
    refuse({ ...refused, status: 401 })
    cut()
    await page.locator('#out').waitFor({ state: 'visible' })
    // A signed-out page does not reconnect the stream.
    await page.clock.fastForward(5_000)
    await comesBack()
    await page.locator('#out').waitFor({ state: 'hidden' })
    await page.locator(banner).waitFor({ state: 'hidden' })
    inner.change(withGateway('gw-after'))
    await shows(page, 'gw-after')
    inner.change(withGateway('gw-0'))
    t.pass(what)
  }
})

void t.test('without JavaScript all content can be read, searched and followed by links', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url } = await openStatusPage(t)
  const page = await browser.page(url, { script: false })
  await page.locator('#q').fill('line-2')
  await page.locator('form button').click()
  await shows(page, 'gw-1')
  t.equal(await isShown(page, 'gw-0'), undefined)
  await page.getByRole('link', { name: 'plant-a/line-2' }).click()
  await shows(page, 'CollectionsInvalid')
})

void t.test('the keyboard reaches the search, the filter and the page of a GatewaySync', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url } = await openStatusPage(t)
  const page = await browser.page(url)
  const focused = async (): Promise<string> =>
    (await page.evaluate('document.activeElement.id || document.activeElement.textContent.trim()')) as string
  const seen: string[] = []
  for (let presses = 0; presses < 12 && !seen.includes('plant-a/line-1'); presses += 1) {
    await page.keyboard.press('Tab')
    seen.push(await focused())
  }
  t.match(seen.join(' '), /q .*show .*plant-a\/line-1/)
  t.not(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/gatewaysyncs/plant-a/line-1')
  await shows(page, 'gw-0')
})

void t.test('axe finds no violations on any page, light or dark, in both languages', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url } = await openStatusPage(t, twoLines, { isOpen: true })
  for (const theme of ['light', 'dark'] as const) {
    for (const language of ['en', 'de'] as const) {
      const page = await browser.page(url, { theme, language })
      for (const path of ['/', '/gatewaysyncs/plant-a/line-2', '/nothing']) {
        await page.goto(`${url}${path}`)
        t.strictSame(await axeFindings(page), [], `${path} ${theme} ${language}`)
      }
    }
  }
})

void t.test('searching a thousand gateways keeps up with typing', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url } = await openStatusPage(
    t,
    thousandGateways((name) => ({ message: `${name} was changed`, phase: 'Drifted' })),
  )
  const page = await browser.page(url)
  await page.evaluate(`window.longest = 0; new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration)
  }).observe({ type: 'event', durationThreshold: 16 })`)
  await page.locator('#q').pressSequentially('gateway-77', { delay: 60 })
  await until(async () => ((await page.locator('.tile').count()) === 11 ? true : undefined), 'only what matches is shown')
  const longestMs = Number(await page.evaluate('window.longest'))
  t.comment(`from a key to the next frame at most ${longestMs} ms`)
  t.ok(longestMs < 1_000, `a key waited ${longestMs} ms`)
})
