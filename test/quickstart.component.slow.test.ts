/**
 * `npm start` and its page for a new user: the printed commands, run as printed, and the page in the browser.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { openBrowser } from './support/browser.ts'
import { requires } from './support/requires.ts'
import { until } from './support/world.ts'

const program = path.resolve(import.meta.dirname, '../scripts/quickstart.ts')
const cli = path.resolve(import.meta.dirname, '../runtime/cli.ts')

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
  const commands = [...output.matchAll(/^ {2}(cd .+ git push -q)$/gm)].map(([, command = '']) => command)
  const [, url = '', token = '', body = ''] = /curl -X POST (\S+) -H '(Authorization: [^']+)' .* -d '([^']+)'/.exec(output) ?? []
  const headers = { authorization: token.slice('Authorization: '.length), 'content-type': 'application/json' }
  const sendWebhook = async () => t.equal((await fetch(url, { method: 'POST', headers, body })).status, 202)
  await sendWebhook()
  const [, folder = ''] = /cd (\S+) /.exec(output) ?? []
  const commit = execFileSync('git', ['-C', folder, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).slice(0, 8)
  for (const name of ['gw-dev', 'gw-prod']) await page.locator('.tile.ok', { hasText: name }).filter({ hasText: commit }).waitFor()
  await page.locator('.card h2 a').click()
  await page.getByText('Say hello').first().waitFor()

  const [, refused = '', repair = ''] = commands
  execFileSync('sh', ['-c', refused])
  await sendWebhook()
  await printed(/(is refused: 1 error \(CollectionsInvalid\))/)
  await printed(/( services\/config\/resources\/dev\/config-mode\.json:1: error: config-mode\.json is not valid JSON)/)
  await page.getByText('config-mode.json:1').first().waitFor()
  const [, checked = ''] = /^ {2}\S+bin\/cluster-sync\.js (lint .+)$/m.exec(output) ?? []
  const lint = spawnSync(process.execPath, [cli, ...checked.split(' ')], { encoding: 'utf8' })
  t.match(lint.stdout, /1 error/, 'the printed command finds the error too')
  execFileSync('sh', ['-c', repair], { stdio: 'ignore' })
  await sendWebhook()
  await printed(/(published [0-9a-f]{8} of main "Revert )/)
  t.strictSame(browser.complaints, [])
  child.kill('SIGINT')
  t.equal(await ended, 0)
})

void t.test('a signal to npm ends the whole run', async (t) => {
  if (!requires(t, 'git', 'npm')) return
  const cwd = path.resolve(import.meta.dirname, '..')
  const child = spawn('npm', ['start'], { cwd, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  // The pipe closes when its last holder has ended.
  const ended = new Promise<true>((resolve) => child.once('close', () => resolve(true)))
  t.teardown(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // Nothing is left.
    }
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
  await until(() => /status page: /.exec(output)?.[0], 'the run has started')
  child.kill('SIGTERM')
  t.equal(await Promise.race([ended, setTimeout(10_000, false)]), true)
})
