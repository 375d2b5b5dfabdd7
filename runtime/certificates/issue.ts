/**
 * Issues X.509 certificates: CAs and the leaf certificates that they sign. ECDSA on P-256, which every TLS client of this product accepts
 * and which signs in well under a millisecond. No clock: validity comes from the caller.
 */
// oxlint-disable-next-line import/no-unassigned-import -- it prepares the global object for the next import
import './reflect.ts'
import type { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import type { Temporal } from '../platform/temporal.ts'

const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** PEM texts; the key is PKCS #8. */
export type KeyPair = { certificate: string; key: string }

/** notBefore and notAfter; certificates carry whole seconds. */
export type Validity = { from: Temporal.Instant; until: Temporal.Instant }

/** Issues a CA that may sign leaf certificates only. */
export async function issueAuthority(commonName: string, validity: Validity): Promise<KeyPair> {
  const keys = await generateKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    ...dates(validity),
    keys,
    signingAlgorithm: keyAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), key: await keyText(keys.privateKey) }
}

/** Issues a server certificate for these DNS names and IP addresses. */
export async function issueLeaf(authority: KeyPair, names: readonly string[], validity: Validity): Promise<KeyPair> {
  const keys = await generateKeys()
  const issuer = new x509.X509Certificate(authority.certificate)
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [commonNameOf(names)] }],
    issuer: issuer.subjectName.toJSON(),
    ...dates(validity),
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    signingAlgorithm: keyAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: isAddress(value) ? 'ip' : 'dns', value }))),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), key: await keyText(keys.privateKey) }
}

function dates({ from, until }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(from.epochMilliseconds), notAfter: new Date(until.epochMilliseconds) }
}

/** A common name holds at most 64 characters (RFC 5280, ub-common-name); clients read the alternative names. */
function commonNameOf(names: readonly string[]): string {
  return names.find((name) => name.length <= 64) ?? 'cluster-sync-operator'
}

function isAddress(name: string): boolean {
  return /^[0-9.]+$/.test(name) || name.includes(':')
}

async function generateKeys(): Promise<{ publicKey: webcrypto.CryptoKey; privateKey: webcrypto.CryptoKey }> {
  return await crypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify'])
}

async function keyText(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}

async function importKey(text: string): Promise<webcrypto.CryptoKey> {
  return await crypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(text), keyAlgorithm, false, ['sign'])
}
