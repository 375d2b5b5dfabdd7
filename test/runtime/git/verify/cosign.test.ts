/**
 * Tests which keys of a Secret are trusted: those that verify a signature quickly, and in another thread.
 */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { readTrustedKeys, signerOf } from '../../../../runtime/git/verify/cosign.ts'
import { asFault } from '../../../../runtime/platform/fault.ts'

const pem = (key: KeyObject) => Buffer.from(key.export({ type: 'spki', format: 'pem' }))
const ec = (namedCurve: string) => pem(generateKeyPairSync('ec', { namedCurve }).publicKey)
const rsa = (modulusLength: number, publicExponent = 65_537) => pem(generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey)

function answer(key: Buffer): string {
  try {
    return readTrustedKeys(new Map([['cosign.pub', key]]), 'spec.oci.verify')
      .map(({ name }) => name)
      .join()
  } catch (error) {
    return asFault(error).reason
  }
}

void t.test('keys are trusted that verify a signature in a few milliseconds', async (t) => {
  const keys: [string, Buffer, string][] = [
    ['P-256', ec('prime256v1'), 'cosign.pub'],
    ['P-384', ec('secp384r1'), 'cosign.pub'],
    ['P-521', ec('secp521r1'), 'cosign.pub'],
    ['Ed25519', pem(generateKeyPairSync('ed25519').publicKey), 'cosign.pub'],
    ['RSA', rsa(2_048), 'cosign.pub'],
    ['RSA, exponent 3', rsa(2_048, 3), 'cosign.pub'],
    ['another curve', ec('secp256k1'), 'CredentialsInvalid'],
    ['a slow curve', ec('sect571r1'), 'CredentialsInvalid'],
    ['RSA with a large exponent', rsa(2_048, 268_435_459), 'CredentialsInvalid'],
    ['RSA that is too short', rsa(1_024), 'CredentialsInvalid'],
    ['no key for signatures', pem(generateKeyPairSync('x25519').publicKey), 'CredentialsInvalid'],
  ]
  for (const [name, key, expected] of keys) t.equal(answer(key), expected, name)
})

void t.test('other work goes on while many keys are tried for a signature', async (t) => {
  const pairs = Array.from({ length: 8 }, () => generateKeyPairSync('ec', { namedCurve: 'P-521' }))
  const keys = readTrustedKeys(new Map(pairs.map(({ publicKey }, index) => [`${index}`, pem(publicKey)])), 'spec.oci.verify')
  const digest = `sha256:${'a'.repeat(64)}` as const
  const image = { 'docker-manifest-digest': digest }
  const payload = Buffer.from(JSON.stringify({ critical: { type: 'cosign container image signature', image } }))
  const signature = sign('sha256', payload, pairs[7]?.privateKey ?? '')
  let isRunning = true
  const found = signerOf({ payload, signature }, digest, keys).finally(() => (isRunning = false))
  let turns = 0
  for (; isRunning; turns += 1) await turn()
  t.equal((await found)?.name, '7')
  t.ok(turns >= keys.length, `${turns} turns of the event loop`)
})
