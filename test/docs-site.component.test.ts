/**
 * The site of the documentation in Chromium, from a folder of a static server and from a disk.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { serveFolder } from '../scripts/docs/serve.ts'
import { siteOfCheckout, writeSite } from '../scripts/docs/write.ts'
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

void t.test('a reader finds a page by its words and follows its links, and nothing comes from elsewhere', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { server, url } = await serveFolder(await written(t), 0, '/plants/docs/')
  t.teardown(() => server.close().closeAllConnections())
  const page = await browser.page(url)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.reload()
  t.same(await axeFindings(page), [], 'the start')

  await find(page, 'rollback')
  t.match(await page.getByRole('status').textContent(), /^\d+ sections$/)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Go back to an earlier commit' }).waitFor()
  t.equal(page.url(), `${url}docs/rollback.html`)
  t.same(await axeFindings(page), [], 'a page')

  await find(page, 'GitHostKeyUnknown ssh-keyscan')
  t.same(await axeFindings(page), [], 'a page with what was found')
  await page.getByRole('link', { name: 'Connect a private repository', exact: true }).click()
  await page.waitForURL(`${url}docs/git-hosts/index.html`)
  await page.locator('main a[href="ssh.html"]').first().click()
  await page.waitForURL(`${url}docs/git-hosts/ssh.html`)
  await page.goto(`${url}docs/dashboards.html`)
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
  t.same(
    asked.filter((address) => !address.startsWith(url) && !address.startsWith('data:')),
    [],
  )
  t.same(await axeFindings(await browser.page(url, { theme: 'dark', width: 360 })), [], 'the start on a phone in the dark')
  t.same(browser.complaints, [])
})

void t.test('on a phone in the dark no page is wider than the screen, and the list of pages is one tap away', async (t) => {
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const start = pathToFileURL(path.join(await written(t), 'index.html')).href
  const page = await browser.page(start, { theme: 'dark', width: 360, height: 740 })
  for (const name of ['index.html', 'docs/fields.html', 'docs/tutorial.html']) {
    await page.goto(new URL(name, start).href)
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, name)
  }
  await find(page, 'webhook secret')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'All pages' }).click()
  await page.getByRole('link', { name: 'Troubleshooting', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Troubleshooting' }).waitFor()
  t.same(browser.complaints, [], 'from a disk too')
})

void t.test('a folder that holds something else is left as it is', async (t) => {
  const folder = temporaryFolder(t, 'docs-elsewhere')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'mine.txt'), 'mine')
  await t.rejects(writeSite(siteOfCheckout(), folder), { message: /holds something that npm run docs has not written/ })
})

void t.test('the server gives files of its folder alone', async (t) => {
  const { server, url } = await serveFolder(path.join(import.meta.dirname, '../docs'), 0)
  t.teardown(() => server.close().closeAllConnections())
  t.equal((await fetch(`${url}rollback.md`)).status, 200)
  for (const name of ['..%2fpackage.json', '%00', 'nothing.html', '']) t.equal((await fetch(`${url}${name}`)).status, 404, name)
  t.equal((await fetch(`${url}rollback.md`, { method: 'POST' })).status, 405)
})
