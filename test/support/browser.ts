/**
 * Debian's Chromium for tests of web pages. One browser per test file; each page has its own profile.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import root, { type Test } from 'tap'
import { requires } from './requires.ts'

export type { Page } from 'playwright-core'

/** Browser settings of a user; by default English, light mode, desktop size, scripts enabled. */
export type Look = {
  headers?: Record<string, string>
  language?: 'en' | 'de'
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  script?: boolean
}

export type Opened = {
  /** Opens a page with a new profile. `complaints` collects every logged error and every script exception. */
  page(url: string, look?: Look): Promise<Page>
  complaints: string[]
}

let shared: Promise<Browser> | undefined
let settings: string | undefined
root.teardown(async () => {
  await (await shared)?.close()
  if (settings !== undefined) rmSync(settings, { recursive: true, force: true })
})

/** Longer than any step takes on a busy machine. */
const patienceMs = 20_000

/** Undefined without Chromium: the test is then skipped (or has failed under CI) and should return. */
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
      // The login leads to pages of the provider, which are not under test.
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

/** `settings`: the folder for files outside a profile, so that nothing stays in the account of the user who runs the tests. */
export function launch(settings: string): Promise<Browser> {
  // Chromium's sandbox does not start for root, as in containers; the browser only visits pages of the test.
  const isRoot = process.getuid?.() === 0
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    env: { ...process.env, XDG_CONFIG_HOME: settings },
    chromiumSandbox: !isRoot,
    // As in an isolated network: other hosts fail to resolve at once.
    args: [
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--disable-extensions',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    ],
    timeout: patienceMs,
  })
}

/** The only WCAG 2.2 A or AA rule that axe disables by default; the other disabled rules are AAA or deprecated. */
const options = { rules: { 'target-size': { enabled: true } } } satisfies axe.RunOptions

/** Findings of axe on a page, by WCAG 2.2 A and AA and its best practices: each rule with the elements that break it. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as axe.AxeResults
  return found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`)
}

/**
 * Texts that are cut off: they extend beyond their card, tile or banner, or beyond the window. Elements with a scroll bar of their own are
 * left out.
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
