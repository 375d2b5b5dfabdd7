/**
 * How mirrors resolve and fetch OCI artifacts of a real registry: revisions, logins, signatures, and what is refused.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { followedRef } from '../../../../runtime/api/followed-ref.ts'
import { ociSpec, sourceOf } from '../../../../runtime/api/schema/oci-spec.ts'
import type { CommitHash } from '../../../../runtime/api/values.ts'
import { createMirrors, type Mirror } from '../../../../runtime/git/mirrors.ts'
import { manifestTypes } from '../../../../runtime/git/oci/manifest.ts'
import { type Network, openNetwork, createResolveHost } from '../../../../runtime/git/remote/network.ts'
import { createRemotes } from '../../../../runtime/git/remotes.ts'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import { asFault, Fault } from '../../../../runtime/platform/fault.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { readSecrets, type Secrets } from '../../../support/access-remotes.ts'
import { matchObject } from '../../../support/assertions.ts'
import { makeAuthority } from '../../../support/authority.ts'
import { login, payloadFor, startRegistry, tarOf, type TestRegistry } from '../../../support/artifact-registry.ts'
import { gitEnvironment, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(120_000)
const mebibyte = 1024 * 1024

type Found = { commit: string; name: string; signer?: { key: string; by: string } }
type Plant = {
  registry: TestRegistry
  mirror(oci: Record<string, unknown>): Promise<Mirror>
  /** The resolution, or `reason: message`. */
  ask(oci: Record<string, unknown>): Promise<Found | string>
  /** Path and text of each file of a commit. */
  files(commit: string): string[]
  folder: string
}

/** `secure`: the registry has TLS and wants a login. */
async function setUp(
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

async function reasonOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'no fault',
    (error: Error) => asFault(error).reason,
  )
}

function commitOf(found: Found | string): string {
  return typeof found === 'string' ? found : found.commit
}

void t.test('a tag, a range and a digest each resolve to the artifact, whose revision is the one of Flux', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const { registry, ask, mirror, files } = await setUp(t)
  const url = registry.url('plants/north')
  const first = await registry.push('plants/north', 'v1.9.0', { 'projects/a.txt': 'one', 'services/"b\\c".txt': 'b' })
  const second = await registry.push('plants/north', 'v1.10.0', { 'projects/a.txt': 'two' })
  await registry.push('plants/north', 'latest', { 'projects/a.txt': 'latest' })

  const tagged = await ask({ url, tag: 'v1.9.0' })
  matchObject(t, tagged, { name: `v1.9.0@${first.digest}` })
  t.strictSame(files(commitOf(tagged)), ['projects/a.txt: one', 'services/"b\\c".txt: b'])
  matchObject(t, await ask({ url, semver: '1.x' }), { name: `v1.10.0@${second.digest}` })
  t.strictSame(await ask({ url, digest: first.digest }), { commit: commitOf(tagged), name: first.digest })
  t.strictSame(files(commitOf(await ask({ url }))), ['projects/a.txt: latest'])

  await registry.push('plants/north', 'v1.9.0', { 'projects/a.txt': 'moved' })
  t.strictSame(files(commitOf(await ask({ url, tag: 'v1.9.0' }))), ['projects/a.txt: moved'], 'a tag that moved is followed')
  const byRequest = async (ref: string) => (await mirror({ url })).resolve(ref, { fresh: true }, signal)
  t.equal((await byRequest('refs/tags/v1.10.0')).name, `v1.10.0@${second.digest}`)
  t.equal(await reasonOf(byRequest('v1.10.0/../../other/manifests/v1')), 'RefNotFound', 'no other path of the registry is asked')
  t.equal(await ask({ url, tag: 'gone' }), 'RefNotFound: the registry has no tag "gone" of this repository')
  t.equal(
    await ask({ url, semver: '3.x' }),
    'RefNotFound: the registry has no tag that matches semver "3.x"; it has 3 tags of this repository',
  )
})

void t.test('an artifact is the same commit in every mirror, and a lost one is fetched again by its digest', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const { registry, ask, mirror, files } = await setUp(t)
  const annotations = { 'org.opencontainers.image.created': '2026-05-04T03:02:01Z', 'org.opencontainers.image.revision': 'main@sha1:1234' }
  const { digest } = await registry.push('plant', 'v1', { a: 'one' }, { annotations })
  const other = await setUp(t, { digestOf: digest })
  await other.registry.push('plant', 'v1', { a: 'one' }, { annotations })
  const url = registry.url('plant')
  const commit = commitOf(await ask({ url, tag: 'v1' })) as CommitHash
  t.equal(commitOf(await other.ask({ url: other.registry.url('plant'), tag: 'v1' })), commit)

  const { committedAt } = await (await mirror({ url, tag: 'v1' })).resolve('v1', { fresh: false }, signal)
  t.equal(await committedAt, '2026-05-04T03:02:01Z')
  const raw = (await (await mirror({ url, tag: 'v1' })).rawObject('commit', commit, commit, signal)).toString()
  t.equal(raw.slice(raw.indexOf('\n\n') + 2), `Artifact of main@sha1:1234\n\n${digest}\n`)

  const kept = await other.mirror({ url: other.registry.url('plant'), tag: 'v1' })
  await kept.drop()
  await kept.ensure(commit, signal)
  t.strictSame(other.files(commit), ['a: one'])
  const lost = await mirror({ url, tag: 'v1' })
  await lost.drop()
  t.equal(await reasonOf(lost.ensure(commit, signal)), 'CommitGone', 'without a status that names its digest')
  t.strictSame(files(commitOf(await ask({ url, tag: 'v1' }))), ['a: one'])
})

void t.test('a registry with TLS and a login is read with a docker config or a user and password', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar', 'openssl')) return
  const { username, password } = login
  const secrets: Secrets = { basic: { username, password }, wrong: { username, password: 'wrong' } }
  const { registry, ask } = await setUp(t, { secure: true, secrets })
  const auths = {
    'other.example': {},
    [`https://${registry.address}/v1/`]: { auth: Buffer.from(`${username}:${password}`).toString('base64') },
  }
  secrets['docker'] = { '.dockerconfigjson': JSON.stringify({ auths }) }
  secrets['foreign'] = { '.dockerconfigjson': JSON.stringify({ auths: { 'other.example': { username, password } } }) }
  await registry.push('plant', 'v1', { a: 'one' })
  const url = registry.url('plant')
  const named = (kind: string, name: string) => ({ url, tag: 'v1', auth: { [kind]: { secretRef: { name } } } })

  const commit = commitOf(await ask(named('basic', 'basic')))
  t.match(commit, /^[0-9a-f]{40}$/)
  t.equal(commitOf(await ask(named('dockerConfig', 'docker'))), commit)
  t.equal(await ask(named('basic', 'wrong')), `GitUnauthorized: ${registry.address}/plant refused the credentials of spec.oci.auth`)
  t.equal(await ask({ url, tag: 'v1' }), `GitUnauthorized: ${registry.address}/plant refused no credentials; set spec.oci.auth`)
  t.equal(
    await ask(named('dockerConfig', 'foreign')),
    `CredentialsInvalid: spec.oci.auth.dockerConfig has no user name and password for "${registry.address}"`,
  )
  t.equal(
    await ask({ ...named('basic', 'basic'), caBundle: undefined }),
    `GitTlsUntrusted: ${registry.address} has a certificate that is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE); set spec.oci.caBundle`,
  )
})

const keyKinds = {
  'ECDSA P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  Ed25519: () => generateKeyPairSync('ed25519'),
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
}

void t.test('only an artifact that one of the keys signed is fetched, and the status names the key', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const secrets: Secrets = {}
  const { registry, ask, folder } = await setUp(t, { secrets })
  const url = registry.url('plant')
  const pem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString()
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  for (const [kind, make] of Object.entries(keyKinds)) {
    const [tag, pair] = [kind.replace(' ', '-'), make()]
    secrets['keys'] = { 'other.pub': pem(other.publicKey), 'plant.pub': pem(pair.publicKey) }
    const spec = { url, tag, verify: { secretRef: { name: 'keys' } } }
    const { digest } = await registry.push('plant', tag, { a: kind })
    t.equal(await ask(spec), `NotVerified: artifact ${digest} has no signature of cosign`)
    await registry.sign('plant', digest, generateKeyPairSync('ed25519').privateKey)
    t.equal(await ask(spec), `NotVerified: artifact ${digest} has 1 signature, none by a key of spec.oci.verify`)
    await registry.sign(
      'plant',
      digest,
      pair.privateKey,
      payloadFor(
        registry.address,
        'plant',
        digest.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      ),
    )
    t.equal(
      await ask(spec),
      `NotVerified: artifact ${digest} has 1 signature, none by a key of spec.oci.verify`,
      'a signature of another digest',
    )
    t.notOk(readdirSync(folder).some((name) => existsSync(path.join(folder, name, 'refs/w'))) && kind === 'ECDSA P-256', 'nothing is kept')
    await registry.sign('plant', digest, pair.privateKey)
    matchObject(t, await ask(spec), { name: `${tag}@${digest}`, signer: { by: 'plant.pub', key: /^SHA256:[A-Za-z0-9+/]{43}$/ } }, kind)
  }
  secrets['keys'] = { 'cosign.key': other.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
  t.match(
    await ask({ url, tag: 'RSA', verify: { secretRef: { name: 'keys' } } }),
    /^CredentialsInvalid: spec\.oci\.verify: entry "cosign\.key"/,
  )
})

void t.test('what is no archive of files, or not what its digest says, is refused, and nothing of it is kept', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const { registry, ask, folder } = await setUp(t)
  const url = registry.url('plant')
  const layer = await registry.blob('plant', 'application/vnd.oci.image.layer.v1.tar', tarOf(folder, { a: 'plain' }))
  await registry.push('plant', 'plain', Buffer.from(''), { layers: [layer] })
  t.match(commitOf(await ask({ url, tag: 'plain' })), /^[0-9a-f]{40}$/, 'a plain layer is accepted')

  await registry.push('plant', 'two', { a: '1' }, { layers: [layer, layer] })
  t.equal(
    await ask({ url, tag: 'two' }),
    'RepositoryRefused: the artifact has 2 layers; only one is accepted, as flux push artifact creates it',
  )
  await registry.push('plant', 'type', { a: '1' }, { layerType: 'application/octet-stream' })
  t.equal(
    await ask({ url, tag: 'type' }),
    'RepositoryRefused: the artifact has a layer of the type "application/octet-stream", which is neither tar nor tar+gzip',
  )
  await registry.push('plant', 'gzip', Buffer.from('no gzip'))
  t.equal(await ask({ url, tag: 'gzip' }), 'RepositoryRefused: the layer of the artifact is not gzip')
  await registry.push('plant', 'cut', gzipSync(tarOf(folder, { a: '1' }).subarray(0, 512)))
  t.equal(await ask({ url, tag: 'cut' }), 'RepositoryRefused: the artifact is refused: its archive ends early')
  await registry.push('plant', 'short', { a: '1' }, { layers: [{ ...layer, size: layer.size - 1 }] })
  t.match(await ask({ url, tag: 'short' }), /^RepositoryRefused: .* sent a layer that does not have the digest sha256:/)
})

void t.test('a layer and its pack together take no more than the largest fetch', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const { registry, ask } = await setUp(t, { maxPackBytes: 2 * mebibyte })
  const url = registry.url('plant')
  const noise = (bytes: number): string => randomBytes(bytes).toString('base64')
  await registry.push('plant', 'fits', { noise: noise(0.7 * mebibyte) })
  t.match(commitOf(await ask({ url, tag: 'fits' })), /^[0-9a-f]{40}$/)
  await registry.push('plant', 'layer', randomBytes(mebibyte + 1))
  t.equal(await ask({ url, tag: 'layer' }), 'RepositoryTooLarge: the layer of the artifact is larger than 1 MiB, the maximum for one fetch')
  // gzip finds the text of the file before, and git compresses each file alone.
  const text = noise(18 * 1024)
  const alike = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`${index}`, `${text}${index}`]))
  await registry.push('plant', 'pack', { ...alike, noise: noise(0.7 * mebibyte) })
  t.match(await ask({ url, tag: 'pack' }), /^RepositoryTooLarge: a pack of this repository is larger than/)
})

/** A server before the registry, as hosted ones have it: it wants a token, and sends blobs from another address. */
async function startFront(
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

void t.test('a registry that gives out tokens and sends layers from another address is read, and nothing that it changed', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const { registry, ask, files, folder } = await setUp(t)
  const front = await startFront(t, registry)
  await registry.push('plants/north', 'v1', { a: 'one' })
  t.strictSame(files(commitOf(await ask({ url: front.url, tag: 'v1' }))), ['a: one'])
  t.strictSame(front.seen, ['/token?service=front&scope=repository%3Aplants%2Fnorth%3Apull', 'blob without a token'])

  const { digest } = await registry.push('plants/north', 'v2', { a: 'two' })
  front.tamper('manifest')
  t.match(
    await ask({ url: front.url, tag: 'v2' }),
    new RegExp(`^RepositoryRefused: .* sent a manifest that does not have the digest ${digest}$`),
  )
  front.tamper('layer')
  const layer = await registry.blob('plants/north', 'application/vnd.oci.image.layer.v1.tar', tarOf(folder, { a: 'two' }))
  await registry.push('plants/north', 'v3', Buffer.from(''), { layers: [layer] })
  t.equal(
    await ask({ url: front.url, tag: 'v3' }),
    `RepositoryRefused: 127.0.0.1 sent a layer that does not have the digest ${layer.digest} of the manifest`,
  )
})

void t.test('a registry leads to no address that the installation does not permit', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const resolve = createResolveHost({ allowPrivate: true, allowed: ['127.0.0.1'], refused: [] })
  const { registry, ask } = await setUp(t, { network: { resolve, proxy: undefined } })
  await registry.push('plants/north', 'v1', { a: 'one' })
  const why = 'has an address that this installation does not permit (source.allowedAddresses)'
  const front = await startFront(t, registry, '127.0.0.2')
  t.equal(await ask({ url: front.url, tag: 'v1' }), `RepositoryNotAllowed: "127.0.0.2" ${why}`)
  t.equal(await ask({ url: 'oci://127.0.0.3/plant', tag: 'v1' }), `RepositoryNotAllowed: "127.0.0.3" ${why}`)
})

void t.test('signatures by other keys are read again when they change, if they could not be read, and after ten minutes', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const secrets: Secrets = {}
  let skippedMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skippedMs }
  const { registry, ask } = await setUp(t, { secrets, clock })
  const front = await startFront(t, registry)
  const [plant, other] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')]
  secrets['keys'] = { 'plant.pub': plant.publicKey.export({ type: 'spki', format: 'pem' }).toString() }
  const { digest } = await registry.push('plants/north', 'v1', { a: 'one' })
  await registry.sign('plants/north', digest, other.privateKey)
  const spec = { url: front.url, tag: 'v1', verify: { secretRef: { name: 'keys' } } }
  /** The answer, and how many blobs were requested for it. */
  const asked = async () => {
    front.seen.length = 0
    const answer = await ask(spec)
    return [typeof answer === 'string' ? answer.split(':')[0] : answer.name, front.seen.filter((what) => what.startsWith('blob')).length]
  }
  front.tamper('blobs')
  t.strictSame(await asked(), ['GitUnreachable', 1])
  front.tamper('none')
  t.strictSame(await asked(), ['NotVerified', 1])
  t.strictSame(await asked(), ['NotVerified', 0])
  skippedMs = 600_000
  t.strictSame(await asked(), ['NotVerified', 1])
  await registry.sign('plants/north', digest, plant.privateKey)
  front.tamper('blobs')
  t.strictSame(await asked(), ['GitUnreachable', 1])
  front.tamper('none')
  t.strictSame(await asked(), [`v1@${digest}`, 2], 'the signature and the layer')
  t.strictSame(await asked(), [`v1@${digest}`, 0])
})

void t.test('a namespace rests after the verification of signatures, in proportion to its duration', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const waits: number[] = []
  const wait: Clock['wait'] = async (ms, ended) => {
    waits.push(ms)
    await systemClock.wait(ms, ended)
  }
  const pairs = Array.from({ length: 32 }, () => generateKeyPairSync('ec', { namedCurve: 'P-521' }))
  const pems = pairs.map(({ publicKey }, index) => [`${index}`, publicKey.export({ type: 'spki', format: 'pem' }).toString()])
  const { registry, ask } = await setUp(t, { secrets: { keys: Object.fromEntries(pems) }, clock: { ...systemClock, wait } })
  const { digest } = await registry.push('plant', 'v1', { a: 'one' })
  const other = generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey
  const signatures = Array.from({ length: 2 }, () => sign('sha256', Buffer.from('text'), other).toString('base64'))
  const payload = await registry.blob('plant', 'application/vnd.dev.cosign.simplesigning.v1+json', Buffer.from('text'))
  const config = await registry.blob('plant', 'application/vnd.oci.image.config.v1+json', Buffer.from('{}'))
  const layers = signatures.map((text) => ({ ...payload, annotations: { 'dev.cosignproject.cosign/signature': text } }))
  const [mediaType = ''] = manifestTypes.split(',')
  await registry.put('plant', `${digest.replace(':', '-')}.sig`, { schemaVersion: 2, mediaType, config, layers })
  waits.length = 0
  const answer = await ask({ url: registry.url('plant'), tag: 'v1', verify: { secretRef: { name: 'keys' } } })
  t.equal(answer, `NotVerified: artifact ${digest} has 2 signatures, none by a key of spec.oci.verify`)
  t.ok(
    waits.some((ms) => ms > 10 && ms < 4_000),
    waits.join(),
  )
})
