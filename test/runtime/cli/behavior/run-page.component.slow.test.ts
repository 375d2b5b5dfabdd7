/**
 * The status page of `cluster-sync run` with a real repository and data directory.
 */
import t from 'tap'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { openBrowser } from '../../../support/browser.ts'
import { requires } from '../../../support/requires.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { setUpRun, writeGatewaySync } from '../../../support/standalone-run.ts'
import { until } from '../../../support/world.ts'

const polling = { polling: { interval: '5s' } }

void t.test('the page shows each commit once it is applied, and follows an edited GatewaySync file', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'page')
  const first = repository.commit({ 'projects/a.txt': '1' })
  const file = writeGatewaySync(folder, { repo: repository.folder, spec: polling })
  const run = startCli(t, ['run', '-f', file, '--target', `name=press,data=${dataDir}`, '--status-port', '0'])
  t.teardown(async () => run.stop())
  const url = await until(() => /status page: (http:\/\/localhost:\d+)/.exec(run.output())?.[1], 'its address is reported')
  const page = async (path = '/'): Promise<string> => await (await fetch(`${url}${path}`, { signal: AbortSignal.timeout(60_000) })).text()
  const shows = async (commit: string): Promise<void> => {
    await until(async () => ((await page()).includes(commit.slice(0, 8)) ? true : undefined), `${commit} is shown`)
  }
  await shows(first)
  containsText(t, await page(), 'press')
  matchObject(t, JSON.parse(await page('/status.json')), { syncs: [{ published: { commit: first }, gateways: [{ pod: 'press' }] }] })
  containsText(t, await page('/gatewaysyncs/default/plant'), repository.folder)

  const leave = new AbortController()
  const stream = await fetch(`${url}/events`, { signal: leave.signal })
  let heard = ''
  const listening = (async () => {
    for await (const chunk of stream.body ?? []) heard += Buffer.from(chunk).toString('utf8')
  })().catch(() => undefined)
  const second = repository.commit({ 'projects/a.txt': '2' })
  await until(() => (heard.includes('event: changed') ? true : undefined), 'the viewer is notified')
  await shows(second)

  writeGatewaySync(folder, { repo: repository.folder, spec: { ...polling, paused: true } })
  await until(async () => ((await page()).includes('Paused') ? true : undefined), 'the edited file is followed')
  leave.abort()
  await listening
  t.equal(await run.stop(), 0)
})

void t.test('an open browser page shows a pushed commit without a reload, and the page of the commit its changes', async (t) => {
  if (!requires(t, 'git')) return
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { folder, dataDir, repository } = setUpRun(t, 'page-browser')
  repository.commit({ 'projects/a.txt': 'before\n' })
  const file = writeGatewaySync(folder, { repo: repository.folder, spec: polling })
  const run = startCli(t, ['run', '-f', file, '--target', `name=press,data=${dataDir}`, '--status-port', '0'])
  t.teardown(async () => run.stop())
  const url = await until(() => /status page: (http:\/\/localhost:\d+)/.exec(run.output())?.[1], 'its address is reported')
  const page = await browser.page(`${url}/gatewaysyncs/default/plant`)
  const second = repository.commit({ 'projects/a.txt': 'after\n' }, 'Change the line')
  await page.locator(`a[href$="/commits/${second}"]`).waitFor()
  await page.getByText('Change the line').first().waitFor()
  await page.locator(`a[href$="/commits/${second}"]`).click()
  await page.waitForURL(`**/commits/${second}`)
  // On a busy machine the page may time out before it has read the commit, so the test reloads it as a user would.
  await until(async () => {
    if ((await page.locator('pre').count()) > 0) return true
    await page.reload()
    return undefined
  }, 'the page shows what the commit changed')
  t.match(await page.locator('pre').innerText(), /-before\n\+after/)
  await page.goto(`${url}/gatewaysyncs/default/plant/gateways/press`)
  await page.locator(`a[href$="/commits/${second}"]`).waitFor()
  t.strictSame(browser.complaints, [])
  t.equal(await run.stop(), 0)
})

void t.test('every page warns of a missing login if the network can reach it, and not on loopback alone', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'page-open')
  repository.commit({ 'projects/a.txt': '1' })
  const file = writeGatewaySync(folder, { repo: repository.folder, spec: polling })
  for (const [host, isOpen] of [
    ['0.0.0.0', true],
    ['::', true],
    ['127.0.0.1', false],
  ] as const) {
    const run = startCli(t, ['run', '-f', file, '--target', `name=press,data=${dataDir}`, '--status-port', '0', '--status-host', host])
    t.teardown(async () => run.stop())
    const url = await until(() => /status page: (http:\/\/\S+:\d+)/.exec(run.output())?.[1], 'its address is reported')
    for (const path of ['/', '/gatewaysyncs/default/plant']) {
      const text = await (await fetch(`${url}${path}`, { signal: AbortSignal.timeout(60_000) })).text()
      t.equal(text.includes('Login is not enabled'), isOpen, `${host} ${path}`)
    }
    await run.stop()
  }
})

void t.test('a run with --once rejects --status-port', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'page-once')
  repository.commit({ 'projects/a.txt': '1' })
  const file = writeGatewaySync(folder, { repo: repository.folder })
  const { code, stderr } = await runCli(['run', '-f', file, '--data', dataDir, '--once', '--status-port', '0'])
  t.equal(code, 2)
  t.match(stderr, /--status-port cannot be used with --once/)
})
