/**
 * How mirrors resolve and fetch OCI artifacts of a real registry: revisions, logins, and what is refused.
 */
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { CommitHash } from '../../../../runtime/api/values.ts'
import { createResolveHost } from '../../../../runtime/git/remote/network.ts'
import { asFault } from '../../../../runtime/platform/fault.ts'
import { type Secrets } from '../../../support/access-remotes.ts'
import { type Found, mebibyte, openArtifacts, signal, startFront } from '../../../support/artifact-mirrors.ts'
import { matchObject } from '../../../support/assertions.ts'
import { login, tarOf } from '../../../support/artifact-registry.ts'
import { requires } from '../../../support/requires.ts'

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
  const { registry, ask, mirror, files } = await openArtifacts(t)
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
  const { registry, ask, mirror, files } = await openArtifacts(t)
  const annotations = { 'org.opencontainers.image.created': '2026-05-04T03:02:01Z', 'org.opencontainers.image.revision': 'main@sha1:1234' }
  const { digest } = await registry.push('plant', 'v1', { a: 'one' }, { annotations })
  const other = await openArtifacts(t, { digestOf: digest })
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
  const { registry, ask } = await openArtifacts(t, { secure: true, secrets })
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

void t.test('what is no archive of files, or not what its digest says, is refused, and nothing of it is kept', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const { registry, ask, folder } = await openArtifacts(t)
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
  const { registry, ask } = await openArtifacts(t, { maxPackBytes: 2 * mebibyte })
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

void t.test('a registry that gives out tokens and sends layers from another address is read, and nothing that it changed', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const { registry, ask, files, folder } = await openArtifacts(t)
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
  const { registry, ask } = await openArtifacts(t, { network: { resolve, proxy: undefined } })
  await registry.push('plants/north', 'v1', { a: 'one' })
  const why = 'has an address that this installation does not permit (source.allowedAddresses)'
  const front = await startFront(t, registry, '127.0.0.2')
  t.equal(await ask({ url: front.url, tag: 'v1' }), `RepositoryNotAllowed: "127.0.0.2" ${why}`)
  t.equal(await ask({ url: 'oci://127.0.0.3/plant', tag: 'v1' }), `RepositoryNotAllowed: "127.0.0.3" ${why}`)
})
