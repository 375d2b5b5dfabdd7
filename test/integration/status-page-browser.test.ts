/**
 * The status page of an installation in Chromium behind a proxy with a login: three namespaces with a thousand gateways, which are only API
 * objects. Covers the first view, live changes, hidden objects and actions of a user.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { gatewaySyncType } from '../../runtime/kube/types.ts'
import { createPlants, createPods, createReports, forEach, hashOf, type Plant, writeReport } from '../benchmark/scale/plants.ts'
import { containsText, lacksText, matchObject } from '../support/assertions.ts'
import { axeFindings, type Opened, openBrowser, type Page } from '../support/browser.ts'
import { install, type Installation } from '../support/installation.ts'
import { ann, boss, pageSecret, patchRights, rightsOf } from '../support/page-rights.ts'
import { freePort } from '../support/ports.ts'
import { pushTo } from '../support/push.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const prefixes = ['north', 'south', 'west']
const gatewaysOfEach = 334

/** A published GatewaySync in each namespace, and gateways that have reported its commit. */
async function fill(cluster: Installation): Promise<{ plants: Plant[]; push(): string }> {
  const repository = cluster.host.repository('plants.git')
  const commit = repository.commit({ 'projects/a.txt': 'one' })
  const repo = cluster.host.url('plants.git/.git')
  const plants = prefixes.map((name): Plant => ({ namespace: cluster.namespace(name), name, repo }))
  await createPlants(cluster, plants)
  const pods = await createPods(cluster, plants, gatewaysOfEach)
  await createReports(cluster, pods)
  await forEach(pods, async (pod) => await writeReport(cluster, pod, { commit, syncHash: hashOf(repo) }))
  return { plants, push: () => repository.commit({ 'projects/a.txt': 'two' }, 'Change the line') }
}

/** Waits until the page is complete; errors that it logs before do not count. */
async function untilAllIsKnown(page: Page, url: string): Promise<void> {
  await until(
    async () => {
      const answer = await page.request.get(`${url}/status.json`)
      if (!answer.ok()) return undefined
      const { syncs } = (await answer.json()) as { syncs: { counts?: { synced: number } }[] }
      return syncs.length === prefixes.length && syncs.every(({ counts }) => counts?.synced === gatewaysOfEach) ? true : undefined
    },
    'all gateways are in step',
    200_000,
  )
}

async function paints(t: Test, page: Page, url: string): Promise<void> {
  await page.goto(url)
  const paint = await until(async () => {
    const startedMs: unknown = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    return typeof startedMs === 'number' ? startedMs : undefined
  }, 'something is painted')
  t.comment(`first paint after ${Math.round(paint)} ms`)
  t.ok(paint < 10_000, `painted after ${paint} ms`)
}

async function types(t: Test, page: Page): Promise<void> {
  await page.evaluate(`window.longest = 0; new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration)
  }).observe({ type: 'event', durationThreshold: 16 })`)
  await page.locator('#q').pressSequentially('south-gw-33', { delay: 60 })
  await until(async () => ((await page.locator('.tile').count()) === 5 ? true : undefined), 'gateways 33 and 330 to 333 are shown')
  const longestMs = Number(await page.evaluate('window.longest'))
  t.comment(`from a key to the next frame at most ${longestMs} ms`)
  t.ok(longestMs < 2_000, `a key waited ${longestMs} ms`)
}

/** The time from the status of a push until users see it. */
async function seesPush(t: Test, page: Page, cluster: Installation, { namespace, name }: Plant, commit: string): Promise<void> {
  await pushTo(cluster.receiver, namespace, name)
  const seen = page
    .getByText(commit.slice(0, 8))
    .first()
    .waitFor({ timeout: 600_000 })
    .then(() => performance.now())
  const published = until(
    async () => ((await cluster.status(namespace, name)).published?.commit === commit ? performance.now() : undefined),
    'the push is published',
  )
  const behindMs = Math.round((await seen) - (await published))
  t.comment(`seen ${behindMs} ms after the status`)
  t.ok(behindMs < 3_000)
}

async function withoutFindings(t: Test, page: Page, what: string): Promise<void> {
  t.strictSame(await axeFindings(page), [], `${what}: axe`)
}

/** A user who sees the north and may change nothing. */
async function seesOne(t: Test, browser: Opened, url: string, [north, south]: Plant[]): Promise<void> {
  const page = await browser.page(url, { headers: ann })
  await until(async () => {
    await page.goto(url)
    return (await page.locator('section.card').count()) === 1 ? true : undefined
  }, 'her right is known')
  const shown = await page.locator('main').innerText()
  containsText(t, shown, `${north?.namespace}/north`)
  lacksText(t, shown, String(south?.namespace))
  await page.goto(`${url}/gatewaysyncs/${north?.namespace}/north`)
  t.equal(await page.locator('nav.actions').count(), 0)
  for (const [address, status] of [
    [`${south?.namespace}/south`, 404],
    [`${north?.namespace}/north/actions/pause`, 403],
  ] as const)
    t.equal((await page.goto(`${url}/gatewaysyncs/${address}`))?.status(), status, address)
  await withoutFindings(t, page, 'the refusal')
}

/** A user who may change the north. */
async function pauses(t: Test, page: Page, url: string, { world: { kube, signal } }: Installation, { namespace, name }: Plant) {
  await until(async () => {
    await page.goto(`${url}/gatewaysyncs/${namespace}/${name}`)
    return (await page.locator('nav.actions').count()) === 1 ? true : undefined
  }, 'the right is known')
  await withoutFindings(t, page, 'the GatewaySync')
  await page.locator('nav.actions').getByRole('link', { name: 'Pause', exact: true }).click()
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
  await withoutFindings(t, page, 'the question')
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await page.locator('.banner', { hasText: 'Paused' }).waitFor()
  matchObject(t, await kube.get(gatewaySyncType, { namespace, name }, signal), { spec: { paused: true } })
  await page.goto(`${url}/account`)
  containsText(t, await page.locator('main').innerText(), 'bob')
  await withoutFindings(t, page, 'the account')
}

void t.test('the status page works with three namespaces and a thousand gateways', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl')) return
  const browser = await openBrowser(t)
  if (browser === undefined) return
  const port = await freePort()
  const name = `browser-${port}`
  const proxy = { enabled: true, secretRef: { name: 'page-proxy' }, groupsPrefix: `${name}:` }
  const cluster = await install(t, prefixes, { statusPage: { enabled: true, port, proxy } }, { lifetimeMs: 580_000 })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.slice(-60).join(''))
  })
  writeFileSync(path.join(cluster.folder, 'page-proxy-secret'), `${pageSecret}\n`)
  const north = cluster.namespace('north')
  await cluster.world.apply([...rightsOf(name, north), ...patchRights(`${name}-patch`, north, 'bob')])
  const { plants, push } = await fill(cluster)
  const [first] = plants
  if (first === undefined) throw new Error('three were made')
  const url = `https://localhost:${port}`
  const page = await browser.page('about:blank', { headers: boss })
  await untilAllIsKnown(page, url)

  await t.test('the overview paints quickly, is accessible, and filters while the user types', async (t) => {
    await paints(t, page, url)
    await withoutFindings(t, page, 'the overview')
    await types(t, page)
  })
  await t.test('a push appears without a reload', async (t) => {
    await page.goto(`${url}/?q=north`)
    await seesPush(t, page, cluster, first, push())
    t.strictSame(browser.complaints, [])
  })
  await t.test('a user who may list one namespace sees only that one and changes nothing', async (t) => seesOne(t, browser, url, plants))
  await t.test('a user with the permission pauses a GatewaySync after a confirmation', async (t) => pauses(t, page, url, cluster, first))
})
