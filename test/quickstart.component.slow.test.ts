/**
 * `npm start` and its page for a new user: the printed commands, run as printed, and the page in the browser.
 */
import { execFileSync, spawn } from 'node:child_process'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { openBrowser } from './support/browser.ts'
import { requires } from './support/requires.ts'
import { until } from './support/world.ts'

const program = path.resolve(import.meta.dirname, '../scripts/quickstart.ts')

void t.test('the page shows both gateways, and the commit of the suggested push', async (t) => {
  if (!requires(t, 'git')) return
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += stripVTControlCharacters(chunk.toString('utf8'))))
  const printed = async (pattern: RegExp): Promise<string> => await until(() => pattern.exec(output)?.[1], `${pattern} is printed`)

  const page = await browser.page(await printed(/status page: (http:\/\/localhost:\d+)/))
  for (const name of ['gw-dev', 'gw-prod']) await page.locator('.tile.ok', { hasText: name }).waitFor()
  execFileSync('sh', ['-c', await printed(/^ {2}(cd .+ git push -q)$/m)])
  const [, url = '', token = '', body = ''] = /curl -X POST (\S+) -H '(Authorization: [^']+)' .* -d '([^']+)'/.exec(output) ?? []
  const headers = { authorization: token.slice('Authorization: '.length), 'content-type': 'application/json' }
  t.equal((await fetch(url, { method: 'POST', headers, body })).status, 202)
  const [, folder = ''] = /cd (\S+) /.exec(output) ?? []
  const commit = execFileSync('git', ['-C', folder, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).slice(0, 8)
  for (const name of ['gw-dev', 'gw-prod']) await page.locator('.tile.ok', { hasText: name }).filter({ hasText: commit }).waitFor()
  await page.locator('.card h2 a').click()
  await page.getByText('Say hello').first().waitFor()
  t.strictSame(browser.complaints, [])
  child.kill('SIGINT')
  t.equal(await ended, 0)
})
