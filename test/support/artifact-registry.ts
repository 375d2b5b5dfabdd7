/**
 * A real registry on loopback, and artifacts in it as `flux push artifact` and `cosign sign --key` make them.
 */
import { execFileSync, spawn } from 'node:child_process'
import { createHash, type KeyObject, sign } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import path from 'node:path'
import type { Test } from 'tap'
import { gzipSync } from 'node:zlib'
import type { KeyPair } from '../../runtime/certificates/issue.ts'
import { freePort } from './ports.ts'
import { until } from './world.ts'

/** The bcrypt hash is that of the password. */
export const login = { username: 'plant', password: 'secret', hash: '$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a' }

export type Pushed = { digest: string; layer: string }

export type TestRegistry = {
  /** Host and port. */
  address: string
  /** `spec.oci.url` of a repository. */
  url(repository: string): string
  /** Pushes files, or an archive, as one layer under a tag. */
  push(repository: string, tag: string, content: Readonly<Record<string, string>> | Buffer, manifest?: Manifest): Promise<Pushed>
  /** Signs a digest as cosign does; `payload` replaces the signed text. */
  sign(repository: string, digest: string, key: KeyObject, payload?: string): Promise<void>
  /** Stores a blob and returns its descriptor. */
  blob(repository: string, mediaType: string, content: Buffer): Promise<{ mediaType: string; digest: string; size: number }>
  put(repository: string, reference: string, manifest: object): Promise<string>
}

/** Members of the manifest that differ. */
export type Manifest = { layerType?: string; layers?: object[]; annotations?: Record<string, string> }

const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const configType = 'application/vnd.cncf.flux.config.v1+json'
const layerType = 'application/vnd.cncf.flux.content.v1.tar+gzip'

/** `tls`: served over https with this certificate, to clients that log in. */
export async function startRegistry(t: Pick<Test, 'teardown'>, folder: string, tls?: KeyPair & { ca: string }): Promise<TestRegistry> {
  mkdirSync(folder, { recursive: true })
  const address = `127.0.0.1:${await freePort()}`
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text)
    return path.join(folder, name)
  }
  const secured = tls === undefined ? {} : { tls: { certificate: file('tls.crt', tls.certificate), key: file('tls.key', tls.key) } }
  const auth =
    tls === undefined ? {} : { auth: { htpasswd: { realm: 'plant', path: file('htpasswd', `${login.username}:${login.hash}\n`) } } }
  const storage = { filesystem: { rootdirectory: path.join(folder, 'storage') } }
  const settings = { version: 0.1, log: { level: 'error' }, storage, http: { addr: address, ...secured }, ...auth }
  const server = spawn('docker-registry', ['serve', file('registry.yml', JSON.stringify(settings))], { stdio: 'ignore' })
  t.teardown(() => server.kill())
  const call = caller(address, tls?.ca)
  await until(async () => ((await call('GET', '/v2/').catch(() => undefined))?.status === 200 ? true : undefined), 'the registry answers')
  return registryOf(folder, address, call)
}

type Answer = { status: number; location: string | undefined; digest: string | undefined }
type Call = (method: string, where: string, body?: Buffer, type?: string) => Promise<Answer>

function caller(address: string, ca: string | undefined): Call {
  const authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
  return async (method, where, body, type) =>
    await new Promise((resolve, reject) => {
      const url = new URL(where, `${ca === undefined ? 'http' : 'https'}://${address}`)
      const headers = { ...(type === undefined ? {} : { 'content-type': type }), ...(ca === undefined ? {} : { authorization }) }
      const options = { method, headers, ...(ca === undefined ? {} : { ca }) }
      const asked = (ca === undefined ? requestHttp : requestHttps)(url, options, (response) => {
        response.resume()
        const digest = response.headers['docker-content-digest']
        const answer = {
          status: response.statusCode ?? 0,
          location: response.headers.location,
          digest: typeof digest === 'string' ? digest : undefined,
        }
        response.on('end', () => resolve(answer))
      })
      asked.on('error', reject)
      asked.end(body)
    })
}

function registryOf(folder: string, address: string, call: Call): TestRegistry {
  const succeed = async (...asked: Parameters<Call>): Promise<Answer> => {
    const answer = await call(...asked)
    if (answer.status >= 300) throw new Error(`the registry answered ${answer.status} to ${asked[0]} ${asked[1]}`)
    return answer
  }
  const registry: TestRegistry = {
    address,
    url: (repository) => `oci://${address}/${repository}`,
    async blob(repository, mediaType, content) {
      const digest = digestOf(content)
      const { location = '' } = await succeed('POST', `/v2/${repository}/blobs/uploads/`)
      await succeed('PUT', `${location}${location.includes('?') ? '&' : '?'}digest=${digest}`, content, 'application/octet-stream')
      return { mediaType, digest, size: content.length }
    },
    async put(repository, reference, manifest) {
      const body = Buffer.from(JSON.stringify(manifest))
      const type = (manifest as { mediaType?: string }).mediaType ?? manifestType
      const answer = await succeed('PUT', `/v2/${repository}/manifests/${reference}`, body, type)
      return answer.digest ?? digestOf(body)
    },
    async push(repository, tag, content, { layerType: type = layerType, layers, annotations = {} } = {}) {
      const archive = Buffer.isBuffer(content) ? content : gzipSync(tarOf(folder, content))
      const layer = await registry.blob(repository, type, archive)
      const config = await registry.blob(repository, configType, Buffer.from('{}'))
      const manifest = { schemaVersion: 2, mediaType: manifestType, config, layers: layers ?? [layer], annotations }
      return { digest: await registry.put(repository, tag, manifest), layer: layer.digest }
    },
    async sign(repository, digest, key, payload = payloadFor(address, repository, digest)) {
      const text = Buffer.from(payload)
      const signature = sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', text, key).toString('base64')
      const layer = await registry.blob(repository, 'application/vnd.dev.cosign.simplesigning.v1+json', text)
      const config = await registry.blob(repository, 'application/vnd.oci.image.config.v1+json', Buffer.from('{}'))
      const layers = [{ ...layer, annotations: { 'dev.cosignproject.cosign/signature': signature } }]
      await registry.put(repository, `${digest.replace(':', '-')}.sig`, { schemaVersion: 2, mediaType: manifestType, config, layers })
    },
  }
  return registry
}

/** The text that cosign signs. */
export function payloadFor(address: string, repository: string, digest: string): string {
  const image = { 'docker-manifest-digest': digest }
  const identity = { 'docker-reference': `${address}/${repository}` }
  return JSON.stringify({ critical: { identity, image, type: 'cosign container image signature' }, optional: null })
}

export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

/** An archive of files, made by the tar of this machine; as flux does, in the format ustar. */
export function tarOf(folder: string, files: Readonly<Record<string, string>>, format = 'ustar'): Buffer {
  const root = path.join(folder, 'tree')
  rmSync(root, { recursive: true, force: true })
  mkdirSync(root, { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    writeFileSync(path.join(root, name), text)
  }
  const options = [`--format=${format}`, '--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']
  return execFileSync('tar', ['-C', root, ...options, '-cf', '-', '.'], { maxBuffer: 64 * 1024 * 1024 })
}
