/**
 * Verifies signatures of OCI artifacts that cosign made with a key: the signed text is a JSON document that names the digest of a manifest
 * (sigstore/cosign, specs/SIGNATURE_SPEC.md). Pure.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { promisify } from 'node:util'
import type { Digest } from '../../api/artifact-revision.ts'
import { printable } from '../../api/values.ts'
import { Fault } from '../../platform/fault.ts'
import { jsonOrUndefined } from '../../platform/text/json.ts'
import type { TrustedKey } from '../remote/remote.ts'

/** A Secret has a few keys; each is tried for each signature. */
const maxKeys = 32
/** The time for one verification grows with the length and with the exponent, which is 65,537 in keys that programs make. */
const [rsaBits, maxRsaExponent] = [{ min: 2_048, max: 8_192 }, 65_537n] as const
/** P-256, P-384 and P-521; OpenSSL verifies slowly on others. */
const curves = new Set<string | undefined>(['prime256v1', 'secp384r1', 'secp521r1'])

/** Reads every entry of a Secret as a public key in PEM. Throws CredentialsInvalid. */
export function readTrustedKeys(data: ReadonlyMap<string, Buffer>, field: string): TrustedKey[] {
  if (data.size === 0 || data.size > maxKeys)
    throw new Fault('CredentialsInvalid', `${field}: the Secret must contain 1 to ${maxKeys} public keys`)
  return [...data].map(([name, pem]) => {
    const key = publicKey(pem.toString('utf8'))
    if (key === undefined) {
      const accepted = `a public key in PEM (ECDSA on a NIST curve, Ed25519, or RSA of ${rsaBits.min} to ${rsaBits.max} bits with the usual exponent)`
      throw new Fault('CredentialsInvalid', `${field}: entry "${printable(name)}" of the Secret does not contain ${accepted}`)
    }
    const der = key.export({ type: 'spki', format: 'der' })
    return { name, key, fingerprint: `SHA256:${createHash('sha256').update(der).digest('base64').replace(/=+$/, '')}` }
  })
}

function publicKey(pem: string): KeyObject | undefined {
  // Node would also derive the public key of a private one, which does not belong in this Secret, or of a certificate, whose dates would
  // not be checked.
  if (!/^\s*-----BEGIN (?:RSA )?PUBLIC KEY-----\r?\n[^-]+-----END (?:RSA )?PUBLIC KEY-----\s*$/.test(pem)) return undefined
  try {
    const key = createPublicKey(pem)
    return isQuick(key) ? key : undefined
  } catch {
    return undefined
  }
}

/** Whether one verification takes a few milliseconds at most: 0.4 with P-256, and 6 with P-521 on a busy machine. */
function isQuick({
  asymmetricKeyType: type,
  asymmetricKeyDetails: { namedCurve, modulusLength = 0, publicExponent } = {},
}: KeyObject): boolean {
  if (type === 'ec') return curves.has(namedCurve)
  if (type === 'rsa') return modulusLength >= rsaBits.min && modulusLength <= rsaBits.max && (publicExponent ?? 0n) <= maxRsaExponent
  return type === 'ed25519'
}

/**
 * The key that signed a payload which names the digest; undefined if none did. Verifies in another thread, because a tenant may provide many
 * slow keys.
 */
export async function signerOf(
  { payload, signature }: { payload: Buffer; signature: Buffer },
  digest: Digest,
  keys: readonly TrustedKey[],
): Promise<TrustedKey | undefined> {
  for (const trusted of keys)
    if (await isSignedBy(trusted.key, payload, signature)) return digestNamedBy(payload) === digest ? trusted : undefined
  return undefined
}

const verifyElsewhere = promisify(verify)

async function isSignedBy(key: KeyObject, payload: Buffer, signature: Buffer): Promise<boolean> {
  try {
    // Ed25519 signs the text itself, the others its SHA-256.
    return await verifyElsewhere(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', payload, key, signature)
  } catch {
    return false
  }
}

function digestNamedBy(payload: Buffer): unknown {
  const { critical } = (jsonOrUndefined(payload.toString('utf8')) ?? {}) as {
    critical?: { type?: unknown; image?: Record<string, unknown> }
  }
  return critical?.type === 'cosign container image signature' ? critical.image?.['docker-manifest-digest'] : undefined
}
