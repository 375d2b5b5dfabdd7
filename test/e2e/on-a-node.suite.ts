/**
 * The life of an installation on a real node: images, the default values, gateways in pods. Starts one cluster and runs the cases of
 * `node/` in its network, where pods and Services have the addresses that a node uses. If this machine cannot run a node or build images,
 * the suite is skipped with the reason.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { testsMayBuild, whyNoNode } from '../cluster/node/probe.ts'
import { type ClusterNode, diagnosis, startNode } from '../cluster/node/start.ts'
import { makeAuthority } from '../support/authority.ts'
import { buildahEnvironment, whyNoImages } from '../support/local-base.ts'
import { buildNodeImages, buildPreviousImages } from '../support/node-images.ts'
import { type Given, givenVariable, gitHostName, imagesFolder, say } from './node/given.ts'

const work = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-on-a-node-'))
try {
  const why = (await whyNoNode({ mayBuild: testsMayBuild })) ?? whyNoBuilder()
  if (why === undefined) process.exitCode = await runOnNode()
  else process.stdout.write(`TAP version 14\n1..0 # ${why.replaceAll('\n', ' ').slice(0, 300)}\n`)
} finally {
  removeWork()
}

/**
 * A builder may keep its storage for a moment after it has exited; the tests have finished by then, so a failed removal does not matter.
 */
function removeWork(): void {
  try {
    rmSync(work, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 })
  } catch (error) {
    say(`${work} could not be removed: ${String(error)}`)
  }
}

function whyNoBuilder(): string | undefined {
  const folder = path.join(work, 'probe')
  mkdirSync(folder)
  return whyNoImages(folder, buildahEnvironment(folder))
}

async function runOnNode(): Promise<number> {
  const authority = await makeAuthority(path.join(work, 'authority'), 'a public authority', [gitHostName])
  const startedMs = performance.now()
  const seconds = (): string => `${((performance.now() - startedMs) / 1000).toFixed(1)} s`
  const [node, { archives, release, previous }] = await bothOf(startNode({ names: [gitHostName], say }), () =>
    buildImages(authority.certificate),
  )
  say(`the node is ready, and the images are built, after ${seconds()}`)
  try {
    for (const archive of archives) await node.importImage(archive)
    const given: Given = { ...node.ready, work, authority: authority.certificate, gitServer: authority.server, release, previous }
    const file = path.join(work, 'given.json')
    writeFileSync(file, JSON.stringify(given), { mode: 0o600 })
    const env = { ...process.env, [givenVariable]: file }
    const suite = node.inside(process.execPath, [path.join(import.meta.dirname, 'node/suite.ts')], { env })
    const code = await new Promise<number>((resolve) => suite.once('exit', (status) => resolve(status ?? 1)))
    if (code !== 0) say(`logs of the node:\n${diagnosis(node.folder)}`)
    say(`ended after ${seconds()}`)
    return code
  } finally {
    await node.stop()
  }
}

type Images = { archives: string[] } & Pick<Given, 'release' | 'previous'>

async function buildImages(authorities: string): Promise<Images> {
  const folder = imagesFolder(work)
  const env = buildahEnvironment(folder)
  const { archives, release } = await buildNodeImages(folder, env, authorities)
  const previous = buildPreviousImages(folder, env)
  if (previous === undefined) return { archives, release, previous }
  const { archives: before, ...others } = previous
  return { archives: [...archives, ...before], release, previous: others }
}

/** Builds the images while the node starts; without images the node stops. */
async function bothOf(starting: Promise<ClusterNode>, build: () => Promise<Images>): Promise<[ClusterNode, Images]> {
  // Waiting for a builder blocks this process, so the programs of the node must run before.
  await setImmediate()
  const [node, images] = await Promise.allSettled([starting, build()])
  if (node.status === 'rejected') throw node.reason
  if (images.status === 'fulfilled') return [node.value, images.value]
  await node.value.stop()
  throw images.reason
}
