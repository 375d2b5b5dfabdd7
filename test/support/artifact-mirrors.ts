/**
 * Mirrors of artifacts in a real registry.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { type Test } from 'tap'
import * as v from 'valibot'
import { followedRef } from '../../runtime/api/followed-ref.ts'
import { ociSpec, sourceOf } from '../../runtime/api/schema/oci-spec.ts'
import { createMirrors, type Mirror } from '../../runtime/git/mirrors.ts'
import { manifestTypes } from '../../runtime/git/oci/manifest.ts'
import { type Network, openNetwork } from '../../runtime/git/remote/network.ts'
import { createRemotes } from '../../runtime/git/remotes.ts'
import { type Clock, systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { readSecrets, type Secrets } from './access-remotes.ts'
import { makeAuthority } from './authority.ts'
import { startRegistry, type TestRegistry } from './artifact-registry.ts'
import { gitEnvironment, temporaryFolder } from './repository.ts'

export const signal = AbortSignal.timeout(120_000)
export const mebibyte = 1024 * 1024

export type Found = { commit: string; name: string; signer?: { key: string; by: string } }
export type Plant = {
  registry: TestRegistry
  mirror(oci: Record<string, unknown>): Promise<Mirror>
  /** The resolution, or `reason: message`. */
  ask(oci: Record<string, unknown>): Promise<Found | string>
  /** Path and text of each file of a commit. */
  files(commit: string): string[]
  folder: string
}

/** `secure`: the registry has TLS and wants a login. */
export async function openArtifacts(
  t: Test,
  {
    secure = false,
    secrets = {},
    digestOf,
    network = openNetwork,
    maxPackBytes = 1024 * mebibyte,
    clock = systemClock,
  }: { secure?: boolean; secrets?: Secrets; digestOf?: string; network?: Network; maxPackBytes?: number; clock?: Clock } = {},
): Promise<Plant> {
  const folder = temporaryFolder(t, 'artifacts')
  const authority = secure ? await makeAuthority(path.join(folder, 'ca'), 'plant ca') : undefined
  if (authority !== undefined) Object.assign(secrets, { ca: { 'ca.crt': authority.certificate } })
  const tls = authority === undefined ? undefined : { ...authority.server, ca: authority.certificate }
  const registry = await startRegistry(t, path.join(folder, 'registry'), tls)
  const at = path.join(folder, 'mirrors')
  const mirrors = createMirrors({
    folder: at,
    clock,
    log: silentLog,
    network,
    maxPackBytes,
    digestOf: () => digestOf as `sha256:${string}` | undefined,
  })
  t.teardown(async () => mirrors.close())
  const remoteOf = createRemotes({
    allowLocal: false,
    allowedHosts: [],
    readSecret: readSecrets(secrets),
    network,
    clock: systemClock,
    signal,
  })
  const sourceFor = (oci: Record<string, unknown>) =>
    sourceOf(
      undefined,
      v.parse(ociSpec, secure ? { caBundle: { secretRef: { name: 'ca', key: 'ca.crt' } }, ...oci } : { insecure: true, ...oci }),
    )
  const mirror: Plant['mirror'] = async (oci) => mirrors.of(await remoteOf('plant', sourceFor(oci), signal), 'plant')
  return {
    registry,
    mirror,
    folder: at,
    async ask(oci) {
      try {
        const { commit, name, signer } = await (await mirror(oci)).resolve(followedRef(sourceFor(oci)), { fresh: true }, signal)
        return { commit, name, ...(signer === undefined ? {} : { signer }) }
      } catch (error) {
        if (error instanceof Fault) return `${error.reason}: ${error.message}`
        throw error
      }
    },
    files(commit) {
      const holder = readdirSync(at).find((name) => existsSync(path.join(at, name, 'refs/w', commit))) ?? ''
      const git = (...args: string[]): string =>
        execFileSync('git', args, { cwd: path.join(at, holder), env: gitEnvironment, encoding: 'utf8' })
      return git('ls-tree', '-r', '--name-only', '-z', commit)
        .split('\0')
        .filter(Boolean)
        .map((name) => `${name}: ${git('show', `${commit}:${name}`)}`)
    },
  }
}

/** A server before the registry, as hosted ones have it: it wants a token, and sends blobs from another address. */
export async function startFront(
  t: Test,
  registry: TestRegistry,
  blobsAt = '127.0.0.1',
): Promise<{ url: string; seen: string[]; tamper(what: 'manifest' | 'layer' | 'none' | 'blobs'): void }> {
  const seen: string[] = []
  let changed = ''
  const forward = (where: string, response: ServerResponse, change: (body: Buffer) => Buffer = (body) => body): void => {
    void fetch(`http://${registry.address}${where}`, { headers: { accept: manifestTypes } }).then(async (answer) => {
      const body = change(Buffer.from(await answer.arrayBuffer()))
      const digest = answer.headers.get('docker-content-digest')
      response.writeHead(answer.status, digest === null ? {} : { 'docker-content-digest': digest }).end(body)
    })
  }
  const listen = async (listener: RequestListener): Promise<number> => {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    return (server.address() as AddressInfo).port
  }
  const blobs = await listen(({ url = '', headers }, response) => {
    seen.push(`blob ${headers.authorization ?? 'without a token'}`)
    if (changed === 'blobs') response.writeHead(503).end()
    else
      forward(url, response, (body) => (changed === 'layer' ? Buffer.from(body.toString('latin1').replace('two', 'TWO'), 'latin1') : body))
  })
  const port = await listen(({ url = '', method, headers }, response) => {
    if (url.startsWith('/token')) {
      seen.push(url)
      response.end(JSON.stringify({ token: 't0k' }))
    } else if (headers.authorization !== 'Bearer t0k') {
      const realm = `http://${headers.host ?? ''}/token`
      response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="front",scope="x"` }).end()
    } else if (url.includes('/blobs/')) {
      response.writeHead(307, { location: `http://${blobsAt}:${blobs}${url}` }).end()
    } else forward(url, response, (body) => (changed === 'manifest' && method === 'GET' ? Buffer.concat([body, Buffer.from(' ')]) : body))
  })
  return { url: `oci://127.0.0.1:${port}/plants/north`, seen, tamper: (what) => (changed = what) }
}
