/**
 * Tests how an open page updates in a real browser: only changes are applied, ages advance, dead connections are detected, and hidden tabs
 * hold no connection.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { containsText, lacksText, matchObject } from '../../../support/assertions.ts'
import { openBrowser, type Page } from '../../../support/browser.ts'
import { fleetFacts, now, pod, report, syncFacts } from '../../../support/fleet-facts.ts'
import { plantCommits, plantFacts, richCommit } from '../../../support/plant-facts.ts'
import { openTcpProxy } from '../../../support/tcp-proxy.ts'
import { openStatusPage } from '../../../support/status-page.ts'
import { until } from '../../../support/world.ts'

const banner = '#stale'
const shows = async (page: Page, text: string): Promise<true> =>
  await until(async () => ((await page.locator('main').innerText()).includes(text) ? true : undefined), `"${text}" is shown`)

const gateways = (...names: string[]) =>
  fleetFacts({
    syncs: [syncFacts('line-1')],
    pods: names.map((name) => pod(name, 'line-1')),
    reports: names.map((name) => report(name, 'line-1')),
  })

/** A clock with a fixed time on which waits are a hundred times shorter. */
const fastClock = {
  ...systemClock,
  now: () => now,
  wait: async (ms: number, signal?: AbortSignal) => await systemClock.wait(ms / 100, signal),
}

/** A port that accepts connections and never answers. */
async function openSilence(t: Pick<Test, 'teardown'>): Promise<number> {
  const taken = new Set<Socket>()
  const server = createServer((socket) => taken.add(socket.on('error', () => undefined).resume()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of taken) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

void t.test('only changed list items are updated: focus, selection and scroll position stay', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const names = Array.from({ length: 150 }, (_, index) => `gw-${index + 100}`)
  const { url, change } = await openStatusPage(t, gateways(...names))
  const page = await browser.page(url, { height: 400 })
  await page.getByRole('link', { name: 'gw-200', exact: true }).focus()
  await page.evaluate(`getSelection().selectAllChildren([...document.querySelectorAll('.tile')][101])`)
  const place = `(() => {
    const { href } = document.activeElement
    return { href, selected: String(getSelection()), isScrolled: scrollY > 0 }
  })()`
  const top = 'document.activeElement.getBoundingClientRect().top'
  const [before, topBefore] = [await page.evaluate(place), Number(await page.evaluate(top))]
  matchObject(t, before, { href: /gateways\/gw-200$/, selected: /gw-201/, isScrolled: true })
  for (const [shown, others] of [
    ['gw-new', ['gw-new', ...names]],
    ['gw-only', ['gw-only', ...names.slice(90)]],
  ] as const) {
    change(gateways(...others))
    await shows(page, shown)
    t.strictSame(await page.evaluate(place), before, shown)
  }
  t.ok(Math.abs(Number(await page.evaluate(top)) - topBefore) < 60, 'what is looked at stays in place')
  t.strictSame(browser.complaints, [])
})

void t.test('a section that the reader opened or closed stays that way', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url, change } = await openStatusPage(t, plantFacts, { hosts: ['127.0.0.1'], commits: plantCommits })
  const page = await browser.page(`${url}${richCommit}`)
  const open = async () => await page.evaluate(`[...document.querySelectorAll('details')].map((part) => part.open)`)
  t.strictSame(await open(), [true, true])
  await page.locator('summary').first().click()
  t.strictSame(await open(), [false, true])
  const renamed = structuredClone(plantFacts.syncs)
  for (const { status } of renamed) for (const entry of status.history ?? []) entry.ref = 'another-branch'
  change({ ...plantFacts, syncs: renamed })
  await shows(page, 'another-branch')
  t.strictSame(await open(), [false, true])
})

void t.test('ages advance without changes, and heartbeats keep the page current', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url } = await openStatusPage(t, gateways('gw-0'), { clock: fastClock })
  const page = await browser.page('about:blank')
  await page.clock.install()
  await page.goto(`${url}/gatewaysyncs/plant-a/line-1`)
  const main = async () => await page.locator('main').innerText()
  containsText(t, await main(), 'next in about')
  containsText(t, await main(), 'main, 3m ago')
  for (const age of ['main, 4m ago', 'main, 5m ago']) {
    for (let passed = 0; passed < 2; passed += 1) {
      const asOf = async () => await page.locator('#as-of').innerText()
      const before = await asOf()
      await page.clock.fastForward(30_000)
      await until(async () => ((await asOf()) === before ? undefined : true), 'the page is of now')
      t.equal(await page.locator(banner).isVisible(), false, 'the connection is alive')
    }
    await shows(page, age)
  }
  lacksText(t, await main(), 'next in about', 'what is past is not announced')
  const german = await browser.page('about:blank', { language: 'de' })
  await german.clock.install()
  await german.goto(url)
  // Offline, so that it receives no page meanwhile.
  await german.context().setOffline(true)
  for (const [passedMs, age] of [
    [60_000, 'vor 4 min'],
    [2 * 3_600_000, 'vor 2 h'],
    [2 * 86_400_000, 'vor 2 Tagen'],
  ] as const) {
    await german.clock.fastForward(passedMs)
    await shows(german, age)
  }
})

void t.test('a dead connection is reported and replaced', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { port, change } = await openStatusPage(t, gateways('gw-0'))
  const silence = await openSilence(t)
  let target = port
  const tcpProxy = await openTcpProxy(t, () => [target])
  const page = await browser.page('about:blank')
  await page.clock.install()
  await page.goto(`http://127.0.0.1:${tcpProxy.port}/`)
  change(gateways('gw-live'))
  await shows(page, 'gw-live')
  target = silence
  t.ok(tcpProxy.freeze() > 0)
  change(gateways('gw-unheard'))
  await page.clock.fastForward(25_000)
  t.equal(await page.locator(banner).isVisible(), false, 'a sign of life may be late')
  await page.clock.fastForward(20_000)
  await page.locator(banner).waitFor({ state: 'visible' })
  containsText(t, await page.locator('main').innerText(), 'gw-live')
  target = port
  // The browser gives up its dead connections one after the other, and each attempt takes some time.
  const isFound = async () =>
    await page
      .locator(banner)
      .waitFor({ state: 'hidden', timeout: 4_000 })
      .then(() => true as const)
      .catch(() => undefined)
  await until(async () => {
    await page.clock.fastForward(45_000)
    return await isFound()
  }, 'another connection is found')
  await shows(page, 'gw-unheard')
})

void t.test('eight tabs of one browser load, and the visible one is live', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { url, change } = await openStatusPage(t, gateways('gw-0'))
  const first = await browser.page('about:blank')
  // Headless Chromium reports all its pages as visible.
  await first.context().addInitScript(`
    window.isHidden = false
    Object.defineProperty(document, 'hidden', { get: () => window.isHidden })`)
  const turn = async (page: Page, isHidden: boolean) =>
    await page.evaluate(`window.isHidden = ${isHidden}; document.dispatchEvent(new Event('visibilitychange'))`)
  const tabs = [first, ...(await Promise.all(Array.from({ length: 7 }, async () => await first.context().newPage())))]
  for (const [index, tab] of tabs.entries()) {
    await tab.goto(url)
    change(gateways(`gw-of-${index}`))
    await shows(tab, `gw-of-${index}`)
    await turn(tab, true)
  }
  lacksText(t, await first.locator('main').innerText(), 'gw-of-7', 'nobody looks at it')
  await turn(first, false)
  await shows(first, 'gw-of-7')
  change(gateways('gw-last'))
  await shows(first, 'gw-last')
  t.equal(await first.locator(banner).isVisible(), false)
})
