/**
 * Tests which keys of a Secret are trusted: those that verify a signature quickly.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import t from 'tap'
import { readTrustedKeys } from '../../../../runtime/git/verify/cosign.ts'
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

void t.test('keys are trusted that verify a signature in about a millisecond', async (t) => {
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
