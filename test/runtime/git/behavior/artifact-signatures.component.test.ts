/**
 * Tests that signatures of artifacts are required, read again and paid for by their namespace.
 */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { manifestTypes } from '../../../../runtime/git/oci/manifest.ts'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import { type Secrets } from '../../../support/access-remotes.ts'
import { openArtifacts, startFront } from '../../../support/artifact-mirrors.ts'
import { matchObject } from '../../../support/assertions.ts'
import { payloadFor } from '../../../support/artifact-registry.ts'
import { requires } from '../../../support/requires.ts'

const keyKinds = {
  'ECDSA P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  Ed25519: () => generateKeyPairSync('ed25519'),
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
}

void t.test('only an artifact that one of the keys signed is fetched, and the status names the key', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const secrets: Secrets = {}
  const { registry, ask, folder } = await openArtifacts(t, { secrets })
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

void t.test('signatures by other keys are read again when they change, if they could not be read, and after ten minutes', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const secrets: Secrets = {}
  let skippedMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skippedMs }
  const { registry, ask } = await openArtifacts(t, { secrets, clock })
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
  const { registry, ask } = await openArtifacts(t, { secrets: { keys: Object.fromEntries(pems) }, clock: { ...systemClock, wait } })
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
