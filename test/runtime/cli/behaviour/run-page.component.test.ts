/**
 * The status page of a run, in front of a real repository and data directory.
 */
import t from 'tap'
import { openBrowser } from '../../../support/browser.ts'
import { requires } from '../../../support/requires.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { setUpRun, writeGatewaySync } from '../../../support/standalone-run.ts'
import { until } from '../../../support/world.ts'

const polling = { polling: { interval: '5s' } }

void t.test('the page shows each commit as soon as it is in place, and goes on with an edited file', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'page')
  const first = repository.commit({ 'projects/a.txt': '1' })
  const file = writeGatewaySync(folder, { repo: repository.folder, spec: polling })
  const run = startCli(['run', '-f', file, '--target', `name=press,data=${dataDir}`, '--status-port', '0'])
  t.teardown(async () => run.stop())
  const url = await until(() => /status page: (http:\/\/localhost:\d+)/.exec(run.output())?.[1], 'its address is told')
  const page = async (path = '/'): Promise<string> => await (await fetch(`${url}${path}`, { signal: AbortSignal.timeout(60_000) })).text()
  const shows = async (commit: string): Promise<void> => {
    await until(async () => ((await page()).includes(commit.slice(0, 8)) ? true : undefined), `${commit} is shown`)
  }
  await shows(first)
  t.match(await page(), 'press')
  t.match(JSON.parse(await page('/status.json')), { syncs: [{ published: { commit: first }, gateways: [{ pod: 'press' }] }] })
  t.match(await page('/gatewaysyncs/default/plant'), repository.folder)

  const leave = new AbortController()
  const stream = await fetch(`${url}/events`, { signal: leave.signal })
  let heard = ''
  const listening = (async () => {
    for await (const chunk of stream.body ?? []) heard += Buffer.from(chunk).toString('utf8')
  })().catch(() => undefined)
  const second = repository.commit({ 'projects/a.txt': '2' })
  await until(() => (heard.includes('event: changed') ? true : undefined), 'the viewer is told')
  await shows(second)

  writeGatewaySync(folder, { repo: repository.folder, spec: { ...polling, paused: true } })
  await until(async () => ((await page()).includes('Paused') ? true : undefined), 'the edited file is followed')
  leave.abort()
  await listening
  t.equal(await run.stop(), 0)
})

void t.test('in a browser a push is seen without asking again, and what the commit changed', async (t) => {
  if (!requires(t, 'git')) return
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const { folder, dataDir, repository } = setUpRun(t, 'page-browser')
  repository.commit({ 'projects/a.txt': 'before\n' })
  const file = writeGatewaySync(folder, { repo: repository.folder, spec: polling })
  const run = startCli(['run', '-f', file, '--target', `name=press,data=${dataDir}`, '--status-port', '0'])
  t.teardown(async () => run.stop())
  const url = await until(() => /status page: (http:\/\/localhost:\d+)/.exec(run.output())?.[1], 'its address is told')
  const page = await browser.page(`${url}/gatewaysyncs/default/plant`)
  const second = repository.commit({ 'projects/a.txt': 'after\n' }, 'Change the line')
  await page.locator(`a[href$="/commits/${second}"]`).waitFor()
  await page.getByText('Change the line').first().waitFor()
  await page.locator(`a[href$="/commits/${second}"]`).click()
  await page.getByText('+after').waitFor()
  t.match(await page.locator('pre').innerText(), /-before\n\+after/)
  await page.goto(`${url}/gatewaysyncs/default/plant/gateways/press`)
  await page.locator(`a[href$="/commits/${second}"]`).waitFor()
  t.same(browser.complaints, [])
  t.equal(await run.stop(), 0)
})

void t.test('every page says that there is no login where the network reaches it, and not on this machine alone', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'page-open')
  repository.commit({ 'projects/a.txt': '1' })
  const file = writeGatewaySync(folder, { repo: repository.folder, spec: polling })
  for (const [host, isOpen] of [
    ['0.0.0.0', true],
    ['::', true],
    ['127.0.0.1', false],
  ] as const) {
    const run = startCli(['run', '-f', file, '--target', `name=press,data=${dataDir}`, '--status-port', '0', '--status-host', host])
    t.teardown(async () => run.stop())
    const url = await until(() => /status page: (http:\/\/\S+:\d+)/.exec(run.output())?.[1], 'its address is told')
    for (const path of ['/', '/gatewaysyncs/default/plant']) {
      const text = await (await fetch(`${url}${path}`, { signal: AbortSignal.timeout(60_000) })).text()
      t.equal(text.includes('There is no login'), isOpen, `${host} ${path}`)
    }
    await run.stop()
  }
})

void t.test('a run that is over at once has no page', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'page-once')
  repository.commit({ 'projects/a.txt': '1' })
  const file = writeGatewaySync(folder, { repo: repository.folder })
  const { code, stderr } = await runCli(['run', '-f', file, '--data', dataDir, '--once', '--status-port', '0'])
  t.equal(code, 2)
  t.match(stderr, /--status-port: .*--once/)
})
