/**
 * How the pages look on a phone, at a desk and in a control room, light and dark: nothing is cut off, and axe has nothing to say. With
 * CLUSTER_SYNC_WRITE_PICTURES=1 what is seen becomes the pictures of docs/status-page.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { type Clock, systemClock } from '../../../../runtime/clock.ts'
import { createLogin } from '../../../../runtime/statuspage/login/routes.ts'
import type { People } from '../../../../runtime/statuspage/people.ts'
import { axeFindings, openBrowser, type Page, textsBeyondTheirPlace } from '../../../support/browser.ts'
import { now } from '../../../support/fleet-facts.ts'
import { plantCommits, plantFacts, richCommit, richGateway, richSync, wholeOf } from '../../../support/plant-facts.ts'
import { openStatusPage } from '../../../support/status-page.ts'

const folder = path.resolve(import.meta.dirname, '../../../../docs/status-page')
const isWriting = process.env['CLUSTER_SYNC_WRITE_PICTURES'] === '1'

const places = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 860 }, room: { width: 1920, height: 1080 } } as const
const pages = {
  overview: '/',
  sync: richSync,
  gateway: richGateway,
  commit: richCommit,
  question: `${richSync}/actions/pause`,
  account: '/account',
  login: '/logged-out',
} as const

/** Somebody who has logged in and may do everything. */
function engineer(clock: Pick<Clock, 'now'>): People {
  const keys = [new Uint8Array(32)]
  const unused = async (): Promise<never> => await Promise.reject(new Error('nobody is asked who it is'))
  const login = createLogin({
    provider: { begin: unused, finish: unused, logoutUrl: unused },
    settings: { usernameClaim: 'name', groupsClaim: 'groups', usernamePrefix: '', groupsPrefix: '', sessionMs: 60_000 },
    keys: async () => keys,
    clock,
  })
  return {
    login,
    identify: async () => ({ name: 'oidc:line-engineer', groups: ['oidc:packaging', 'oidc:engineers', 'system:authenticated'] }),
    sees: async (_person, namespaces) => new Set(namespaces),
    doing: { may: async () => true, act: unused, formKeys: async () => keys },
  }
}

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
      people: engineer(clock),
      report: async ({ pod }) => wholeOf(plantFacts, pod),
    })
    if (isWriting) mkdirSync(folder, { recursive: true })
    const page = await browser.page(url, { theme })
    // Ages go on by themselves, and pictures are of one moment.
    await page.clock.setFixedTime(new Date(now.epochMilliseconds))
    const german = await browser.page(url, { theme, language: 'de' })
    for (const [place, size] of Object.entries(places)) {
      await page.setViewportSize(size)
      for (const [name, address] of Object.entries(pages)) {
        await page.goto(`${url}${address}`)
        const cut = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
        t.ok(Number(cut) <= 0, `${name} ${place}: nothing lies beyond the edge`)
        t.same(await textsBeyondTheirPlace(page), [], `${name} ${place}: every text stays in its place`)
        if (place === 'desk') {
          t.same(await axeFindings(page), [], `${name}: axe`)
          await german.goto(`${url}${address}`)
          t.same(await axeFindings(german), [], `${name}: axe, in German`)
          t.same(await textsBeyondTheirPlace(german), [], `${name}: every text stays in its place, in German`)
        }
        const file = `${name}-${place}-${theme}`
        if (isWriting) writeFileSync(path.join(folder, `${file}.webp`), await picture(page))
      }
    }
    t.same(browser.complaints, [])
  })
}
