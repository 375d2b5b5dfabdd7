/**
 * Debian's Chromium, for tests of what people see and do on a page. One browser for a test file; each page has a profile of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import root, { type Test } from 'tap'
import { requires } from './requires.ts'

export type { Page } from 'playwright-core'

/** How somebody looks at a page; by itself English, light, at a desk, with the script. */
export type Look = {
  headers?: Record<string, string>
  language?: 'en' | 'de'
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  script?: boolean
}

export type Opened = {
  /** A page of somebody who has not been here before. Whatever it logs as an error, and every exception of a script, is kept in `complaints`. */
  page(url: string, look?: Look): Promise<Page>
  complaints: string[]
}

let shared: Promise<Browser> | undefined
let settings: string | undefined
root.teardown(async () => {
  await (await shared)?.close()
  if (settings !== undefined) rmSync(settings, { recursive: true, force: true })
})

/** Longer than anything takes on a machine with other work. */
const patienceMs = 20_000

/** Undefined where there is no Chromium: the test is skipped then (or has failed under CI) and should return. */
export async function openBrowser(t: Test): Promise<Opened | undefined> {
  if (!requires(t, 'chromium')) return undefined
  settings ??= mkdtempSync(path.join(tmpdir(), 'chromium-'))
  shared ??= launch(settings)
  const browser = await shared
  const complaints: string[] = []
  return {
    complaints,
    async page(url, { language = 'en', theme = 'light', width = 1280, height = 800, script = true, headers = {} } = {}) {
      const choices: BrowserContextOptions = {
        locale: language,
        colorScheme: theme,
        viewport: { width, height },
        javaScriptEnabled: script,
        ignoreHTTPSErrors: true,
        extraHTTPHeaders: headers,
        reducedMotion: 'reduce',
      }
      const context = await browser.newContext(choices)
      t.teardown(async () => context.close())
      context.setDefaultTimeout(patienceMs)
      const page = await context.newPage()
      // The login leads to pages of the provider, which are not ours to judge.
      const isOurs = (): boolean => !url.startsWith('http') || page.url().startsWith(new URL(url).origin)
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('console', (message) => {
        if (message.type() === 'error' && isOurs()) complaints.push(message.text())
      })
      await page.goto(url)
      return page
    },
  }
}

/** `settings`: the folder of what is no profile's, so that nothing is left in the account of whoever runs tests. */
export function launch(settings: string): Promise<Browser> {
  // Chromium's sandbox does not start for root, as which tests run in containers; it only visits pages of the test.
  const isRoot = process.getuid?.() === 0
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    env: { ...process.env, XDG_CONFIG_HOME: settings },
    chromiumSandbox: !isRoot,
    // As in an isolated network: what is elsewhere does not resolve, at once.
    args: [
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--disable-extensions',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    ],
    timeout: patienceMs,
  })
}

/** Of the rules that axe leaves out by itself the only one of WCAG 2.2 A and AA; the others are of AAA, or deprecated. */
const options = { rules: { 'target-size': { enabled: true } } } satisfies axe.RunOptions

/** What axe finds on a page, by WCAG 2.2 A and AA and its own best practices: rule, and the elements that break it. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as axe.AxeResults
  return found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`)
}

/**
 * Texts that somebody cannot read whole: those that end beyond the card, tile or banner that they stand in, or beyond the window. What has a
 * scroll bar of its own is left out.
 */
export async function textsBeyondTheirPlace(page: Page): Promise<string[]> {
  return (await page.evaluate(`(() => {
    const beyond = []
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode
      if (data.trim() === '' || parentElement.closest('pre, select')) continue
      range.selectNodeContents(texts.currentNode)
      const place = parentElement.closest('.tile, .card, .banner, body').getBoundingClientRect()
      const right = Math.max(0, ...[...range.getClientRects()].map((line) => line.right))
      if (right > place.right + 0.5) beyond.push(data.trim())
    }
    return beyond
  })()`)) as string[]
}
