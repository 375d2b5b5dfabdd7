/**
 * How the pages look on a phone, at a desk and in a control room, light and dark: nothing is cut off, and axe has nothing to say. With
 * CLUSTER_SYNC_WRITE_PICTURES=1 what is seen becomes the pictures of docs/status-page.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../../../runtime/clock.ts'
import { axeFindings, openBrowser, type Page } from '../../../support/browser.ts'
import { now } from '../../../support/fleet-facts.ts'
import { plantCommits, plantFacts, richCommit, richGateway, richSync, wholeOf } from '../../../support/plant-facts.ts'
import { openStatusPage } from '../../../support/status-page.ts'

const folder = path.resolve(import.meta.dirname, '../../../../docs/status-page')
const isWriting = process.env['CLUSTER_SYNC_WRITE_PICTURES'] === '1'

const places = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 860 }, room: { width: 1920, height: 1080 } } as const
const pages = { overview: '/', sync: richSync, gateway: richGateway, commit: richCommit } as const

/** Those that stand in the documentation; the others are looked at only by the test. */
const pictured = new Set([
  ...Object.keys(places).flatMap((place) => [`overview-${place}-light`, `overview-${place}-dark`]),
  'sync-desk-light',
  'sync-phone-dark',
  'gateway-desk-light',
  'commit-desk-dark',
])

/** A picture of what is seen without scrolling, in some tens of kilobytes. */
async function picture(page: Page): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 60 })
  return Buffer.from(data, 'base64')
}

for (const theme of ['light', 'dark'] as const) {
  void t.test(`${theme}: every page at every width`, async (t) => {
    const browser = await openBrowser(t)
    if (browser === undefined) return
    const clock = { ...systemClock, now: () => now }
    const { url } = await openStatusPage(t, plantFacts, {
      clock,
      commits: plantCommits,
      hosts: ['127.0.0.1'],
      report: async ({ pod }) => wholeOf(plantFacts, pod),
    })
    if (isWriting) mkdirSync(folder, { recursive: true })
    const page = await browser.page(url, { theme })
    for (const [place, size] of Object.entries(places)) {
      await page.setViewportSize(size)
      for (const [name, address] of Object.entries(pages)) {
        await page.goto(`${url}${address}`)
        const cut = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
        t.ok(Number(cut) <= 0, `${name} ${place}: nothing lies beyond the edge`)
        if (place === 'desk') t.same(await axeFindings(page), [], `${name}: axe`)
        const file = `${name}-${place}-${theme}`
        if (isWriting && pictured.has(file)) writeFileSync(path.join(folder, `${file}.webp`), await picture(page))
      }
    }
    t.same(browser.complaints, [])
  })
}
