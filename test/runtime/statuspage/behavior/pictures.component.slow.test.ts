/**
 * Tests the pages on a phone, a desktop and a wall display, light and dark: nothing is cut off, and axe finds no violations. With
 * CLUSTER_SYNC_WRITE_PICTURES=1 it writes the pictures of docs/how-to/status-page.md, and all others to build/status-page for review.
 * Without it, the pictures of the docs must match the current pages.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import { style } from '../../../../runtime/statuspage/client/assets.ts'
import { createLogin } from '../../../../runtime/statuspage/login/routes.ts'
import type { PageAuth } from '../../../../runtime/statuspage/views/page-auth.ts'
import { version } from '../../../../runtime/platform/version.ts'
import { axeFindings, openBrowser, type Page, textsBeyondTheirPlace } from '../../../support/browser.ts'
import { now } from '../../../support/fleet-facts.ts'
import { plantCommits, plantFacts, richCommit, richGateway, richSync, wholeOf } from '../../../support/plant-facts.ts'
import { openStatusPage } from '../../../support/status-page.ts'

const root = path.resolve(import.meta.dirname, '../../../..')
const docsFolder = path.join(root, 'docs/pictures/status-page')
const reviewFolder = path.join(root, 'build/status-page')
/** The pictures used in the docs. */
const documented: ReadonlySet<string> = new Set(['overview-desk-light', 'sync-desk-light', 'gateway-phone-light', 'overview-room-dark'])
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

/** Captured in full, because without scrolling a phone shows only the first card of a GatewaySync. */
const wholePages: ReadonlySet<string> = new Set(['sync-phone', 'sync-desk'])

/** A logged-in user with all permissions. */
function engineer(clock: Pick<Clock, 'now'>): PageAuth {
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
    actions: { may: async () => true, act: unused, formKeys: async () => keys },
  }
}

/** Takes a picture of the viewport or of the whole page, some tens of kilobytes in size. */
async function picture(page: Page, isWhole: boolean): Promise<Buffer> {
  const session = await page.context().newCDPSession(page)
  const { cssContentSize: whole } = await session.send('Page.getLayoutMetrics')
  const beyond = isWhole ? { captureBeyondViewport: true, clip: { ...whole, scale: 1 } } : {}
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 60, ...beyond })
  return Buffer.from(data, 'base64')
}

async function openPlants(t: Pick<Test, 'teardown'>) {
  const clock = { ...systemClock, now: () => now }
  return await openStatusPage(t, plantFacts, {
    clock,
    commits: plantCommits,
    auth: engineer(clock),
    report: async ({ pod }) => wholeOf(plantFacts, pod),
  })
}

/**
 * A digest of the page content that affects a picture. It excludes the form token, which differs for each page, and the version, because a
 * release requires no new pictures.
 */
function digestOf(text: string): string {
  const shown = text
    .slice(text.indexOf('<body>'))
    .replaceAll(/name="token" value="[^"]*"/g, '')
    .replaceAll(version, '')
  return createHash('sha256').update(`${style.text}\n${shown}`).digest('hex').slice(0, 16)
}

void t.test('the pictures of the docs match the current pages', async (t) => {
  const file = path.join(import.meta.dirname, 'documented-pages.json')
  const { get } = await openPlants(t)
  const digests: Record<string, string> = {}
  for (const [name, address] of Object.entries(pages))
    if ([...documented].some((picture) => picture.startsWith(`${name}-`))) digests[name] = digestOf((await get(address)).text)
  if (isWriting) writeFileSync(file, `${JSON.stringify(digests, undefined, 2)}\n`)
  const why = 'the pages differ from their pictures: run this file with CLUSTER_SYNC_WRITE_PICTURES=1 and review the pictures'
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), digests, why)
})

for (const theme of ['light', 'dark'] as const) {
  void t.test(`${theme}: every page at every width`, async (t) => {
    const browser = await openBrowser(t)
    if (browser === undefined) return
    const { url } = await openPlants(t)
    if (isWriting) for (const folder of [docsFolder, reviewFolder]) mkdirSync(folder, { recursive: true })
    const page = await browser.page(url, { theme })
    // A fixed time, because ages advance and pictures must not depend on it.
    await page.clock.setFixedTime(new Date(now.epochMilliseconds))
    const german = await browser.page(url, { theme, language: 'de' })
    for (const [place, size] of Object.entries(places)) {
      await page.setViewportSize(size)
      for (const [name, address] of Object.entries(pages)) {
        await page.goto(`${url}${address}`)
        const cut = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
        t.ok(Number(cut) <= 0, `${name} ${place}: nothing lies beyond the edge`)
        t.strictSame(await textsBeyondTheirPlace(page), [], `${name} ${place}: every text stays in its place`)
        if (place === 'desk') {
          t.strictSame(await axeFindings(page), [], `${name}: axe`)
          await german.goto(`${url}${address}`)
          t.strictSame(await axeFindings(german), [], `${name}: axe, in German`)
          t.strictSame(await textsBeyondTheirPlace(german), [], `${name}: every text stays in its place, in German`)
        }
        const file = `${name}-${place}-${theme}`
        const folder = documented.has(file) ? docsFolder : reviewFolder
        if (isWriting) writeFileSync(path.join(folder, `${file}.webp`), await picture(page, wholePages.has(`${name}-${place}`)))
      }
    }
    t.strictSame(browser.complaints, [])
  })
}
