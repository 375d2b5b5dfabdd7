/**
 * The documentation site in Chromium, from a static server and from disk.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { serveFolder } from '../scripts/docs/serve.ts'
import { siteOfCheckout, writeSite } from '../scripts/docs/write.ts'
import { rejectsWith } from './support/assertions.ts'
import { axeFindings, openBrowser, type Page } from './support/browser.ts'
import { temporaryFolder } from './support/repository.ts'

async function written(t: Test): Promise<string> {
  const folder = path.join(temporaryFolder(t, 'docs-site'), 'site')
  await writeSite(siteOfCheckout(), folder)
  return folder
}

async function find(page: Page, words: string): Promise<void> {
  await page.getByRole('searchbox', { name: 'Search' }).fill(words)
  await page.locator('#found li a').first().waitFor()
}

void t.test('search finds a page, its links work, and nothing is loaded from other sites', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { server, url } = await serveFolder(await written(t), 0, '/plants/docs/')
  t.teardown(() => server.close().closeAllConnections())
  const page = await browser.page(url)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.reload()
  t.strictSame(await axeFindings(page), [], 'the start')

  await find(page, 'rollback')
  t.match(await page.getByRole('status').textContent(), /^\d+ sections$/)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Roll back' }).waitFor()
  t.equal(page.url(), `${url}docs/how-to/rollback.html`)
  t.strictSame(await axeFindings(page), [], 'a page')

  await find(page, 'GitHostKeyUnknown ssh-keyscan')
  t.strictSame(await axeFindings(page), [], 'a page with what was found')
  await page.getByRole('link', { name: 'Connect a private repository', exact: true }).click()
  await page.waitForURL(`${url}docs/how-to/git-hosts/index.html`)
  await page.locator('main a[href="ssh.html"]').first().click()
  await page.waitForURL(`${url}docs/how-to/git-hosts/ssh.html`)
  await page.goto(`${url}docs/how-to/status-page.html`)
  const sizes = `Promise.all([...document.querySelectorAll('main img')].map(async (image) => {
    image.loading = 'eager'
    await image.decode()
    return image.naturalWidth
  }))`
  const widths: number[] = await page.evaluate(sizes)
  t.ok(
    widths.every((width) => width > 0),
    'every picture is there',
  )

  t.ok(asked.length > 10)
  t.strictSame(
    asked.filter((address) => !address.startsWith(url) && !address.startsWith('data:')),
    [],
  )
  t.strictSame(await axeFindings(await browser.page(url, { theme: 'dark', width: 360 })), [], 'the start on a phone in the dark')
  t.strictSame(browser.complaints, [])
})

void t.test('on a phone in dark mode no page is wider than the screen, and the page list is one tap away', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const start = pathToFileURL(path.join(await written(t), 'index.html')).href
  const page = await browser.page(start, { theme: 'dark', width: 360, height: 740 })
  for (const name of ['index.html', 'docs/reference/fields.html', 'docs/tutorials/one-machine.html']) {
    await page.goto(new URL(name, start).href)
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, name)
  }
  await find(page, 'webhook secret')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'All pages' }).click()
  await page.getByRole('link', { name: 'Troubleshooting', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Troubleshooting' }).waitFor()
  t.strictSame(browser.complaints, [], 'from a disk too')
})

void t.test('a folder with other content is not overwritten', async (t) => {
  const folder = temporaryFolder(t, 'docs-elsewhere')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'mine.txt'), 'mine')
  await rejectsWith(t, writeSite(siteOfCheckout(), folder), { message: /contains files that npm run docs did not write/ })
})

void t.test('the server returns only files of its folder', async (t) => {
  const { server, url } = await serveFolder(path.join(import.meta.dirname, '../docs'), 0)
  t.teardown(() => server.close().closeAllConnections())
  t.equal((await fetch(`${url}how-to/rollback.md`)).status, 200)
  for (const name of ['..%2fpackage.json', '%00', 'nothing.html', '']) t.equal((await fetch(`${url}${name}`)).status, 404, name)
  t.equal((await fetch(`${url}how-to/rollback.md`, { method: 'POST' })).status, 405)
})
