/**
 * Parses the parts of OpenPGP (RFC 4880, version 4) that show which keys a key file holds, how strong they are, and that a signature is one
 * unambiguous packet. gpgv decides whether a signature is valid. Pure.
 */
import { createHash } from 'node:crypto'

/** A packet or subpacket; `tag` as in RFC 4880 sections 4.3 and 5.2.3.1. */
export type Packet = { tag: number; body: Buffer }

/** A primary key or subkey. `algorithm`: RFC 4880 section 9.1. */
export type PgpKey = {
  /** 40 upper-case hex digits, as gpgv prints it. */
  fingerprint: string
  algorithm: number
  /** Length of the modulus of an RSA key; undefined for other kinds. */
  rsaBits: number | undefined
}

/** `digest`: RFC 4880 section 9.4. `keyId` and `fingerprint` of the signer in upper-case hex, as far as the signature names them. */
export type PgpSignature = { algorithm: number; digest: number; keyId: string | undefined; fingerprint: string | undefined }

const tags = { signature: 2, secretKey: 5, publicKey: 6, secretSubkey: 7, publicSubkey: 14 } as const

/** Splits bytes into packets, up to the first beyond `most`; undefined when a length is missing, too long or indeterminate. */
export function packetsOf(bytes: Buffer, most = Infinity): Packet[] | undefined {
  const packets: Packet[] = []
  let at = 0
  while (at < bytes.length && packets.length <= most) {
    const head = bytes[at] ?? 0
    if ((head & 0x80) === 0) return undefined
    const found = (head & 0x40) === 0 ? oldLength(bytes, at, head & 3) : newLength(bytes, at + 1)
    if (found === undefined) return undefined
    const { length, start } = found
    if (start + length > bytes.length) return undefined
    packets.push({ tag: (head & 0x40) === 0 ? (head >> 2) & 15 : head & 63, body: bytes.subarray(start, start + length) })
    at = start + length
  }
  return packets
}

function oldLength(bytes: Buffer, at: number, kind: number): { length: number; start: number } | undefined {
  const size = [1, 2, 4][kind]
  if (size === undefined || at + 1 + size > bytes.length) return undefined
  return { length: bytes.readUIntBE(at + 1, size), start: at + 1 + size }
}

/** The lengths of packets of the new format and of subpackets; the partial lengths of the former are refused. */
function newLength(bytes: Buffer, at: number): { length: number; start: number } | undefined {
  const first = bytes[at]
  if (first === undefined) return undefined
  if (first < 192) return { length: first, start: at + 1 }
  if (first < 224) {
    const second = bytes[at + 1]
    return second === undefined ? undefined : { length: ((first - 192) << 8) + second + 192, start: at + 2 }
  }
  return first === 255 && at + 5 <= bytes.length ? { length: bytes.readUInt32BE(at + 1), start: at + 5 } : undefined
}

/** The error for a key file with a private key; worded to follow its name. */
export const privateKey = 'contains a private key; export the public key'

/** The keys and subkeys of a key file; `why` is worded to follow the file's name. */
export function keysOf(packets: readonly Packet[]): PgpKey[] | { why: string } {
  const keys: PgpKey[] = []
  if (packets[0]?.tag !== tags.publicKey) {
    const isSecret = packets[0]?.tag === tags.secretKey
    return { why: isSecret ? privateKey : 'does not begin with a public key' }
  }
  for (const { tag, body } of packets) {
    if (tag === tags.secretKey || tag === tags.secretSubkey) return { why: privateKey }
    if (tag !== tags.publicKey && tag !== tags.publicSubkey) continue
    if (body[0] !== 4 || body.length < 8) return { why: 'contains a key of a version other than 4' }
    const algorithm = body[5] ?? 0
    const fingerprint = createHash('sha1')
      .update(Buffer.from([0x99, body.length >> 8, body.length & 0xff]))
      .update(body)
      .digest('hex')
      .toUpperCase()
    keys.push({ fingerprint, algorithm, rsaBits: isRsa(algorithm) ? body.readUInt16BE(6) : undefined })
  }
  return keys
}

function isRsa(algorithm: number): boolean {
  return algorithm >= 1 && algorithm <= 3
}

const notPlain = 'carries a PGP signature that is not one plain signature packet of version 4'

/**
 * Reads the signature, which must be exactly one packet: version 4, over the unchanged bytes of `payload`, with canonical numbers, the digest
 * that it claims, and nothing unsigned in it except its issuer. Otherwise `why`, worded to follow the name of the object.
 */
export function signatureOf(packets: readonly Packet[] | undefined, payload: Buffer): PgpSignature | { why: string } {
  const [packet, second] = packets ?? []
  if (packet?.tag !== tags.signature || second !== undefined) return { why: notPlain }
  const { body } = packet
  const [version, type, algorithm = 0, digest = 0] = body
  if (version !== 4 || type !== 0 || body.length < 10) return { why: notPlain }
  const hashedEnd = 6 + body.readUInt16BE(4)
  if (hashedEnd + 2 > body.length) return { why: notPlain }
  const unhashedEnd = hashedEnd + 2 + body.readUInt16BE(hashedEnd)
  if (unhashedEnd + 2 > body.length) return { why: notPlain }
  const hashed = subpacketsOf(body.subarray(6, hashedEnd))
  const unhashed = subpacketsOf(body.subarray(hashedEnd + 2, unhashedEnd))
  if (hashed === undefined || unhashed === undefined) return { why: notPlain }
  if (!areIssuers(unhashed)) return { why: 'carries a PGP signature with an unsigned part' }
  if (!areCanonicalNumbers(body.subarray(unhashedEnd + 2))) return { why: notPlain }
  if (!beginsDigest(payload, body.subarray(0, hashedEnd), digest, body.subarray(unhashedEnd, unhashedEnd + 2)))
    return { why: 'does not match its signature' }
  const issuers = [...hashed, ...unhashed]
  const issuer = (kind: number): Buffer | undefined => issuers.find(({ tag }) => (tag & criticalMask) === kind)?.body
  return {
    algorithm,
    digest,
    keyId: issuer(subpackets.issuer)?.toString('hex').toUpperCase(),
    fingerprint: issuer(subpackets.issuerFingerprint)?.subarray(1).toString('hex').toUpperCase(),
  }
}

/** Removes the highest bit of a subpacket's type: it marks the subpacket as critical. */
const criticalMask = 0x7f
const subpackets = { issuer: 16, issuerFingerprint: 33 } as const

function subpacketsOf(bytes: Buffer): Packet[] | undefined {
  const found: Packet[] = []
  let at = 0
  while (at < bytes.length) {
    // Only here 224 to 254 are lengths too; no subpacket that this module searches is so long.
    const next = newLength(bytes, at)
    if (next === undefined || next.length === 0 || next.start + next.length > bytes.length) return undefined
    found.push({ tag: bytes[next.start] ?? 0, body: bytes.subarray(next.start + 1, next.start + next.length) })
    at = next.start + next.length
  }
  return found
}

/** The unhashed area is not signed, so it may only name the issuer: by key id and by fingerprint, each once and not critical. */
function areIssuers(unhashed: readonly Packet[]): boolean {
  const [ids, fingerprints] = [subpackets.issuer, subpackets.issuerFingerprint].map(
    (tag) => unhashed.filter((one) => one.tag === tag).length,
  )
  return (ids ?? 0) <= 1 && (fingerprints ?? 0) <= 1 && (ids ?? 0) + (fingerprints ?? 0) === unhashed.length
}

const digests = new Map([
  [8, 'sha256'],
  [9, 'sha384'],
  [10, 'sha512'],
])

/** Whether the first two bytes of the digest match those in the signature. True for weak digests: `weakDigestOf` refuses them by name. */
function beginsDigest(payload: Buffer, hashedPart: Buffer, digest: number, expected: Buffer): boolean {
  const name = digests.get(digest)
  if (name === undefined) return true
  const trailer = Buffer.alloc(6)
  trailer.writeUInt16BE(0x04ff)
  trailer.writeUInt32BE(hashedPart.length, 2)
  return createHash(name).update(payload).update(hashedPart).update(trailer).digest().subarray(0, 2).equals(expected)
}

const weakDigests = new Map([
  [1, 'MD5'],
  [2, 'SHA-1'],
  [3, 'RIPEMD-160'],
])

/** The name of a digest that is too weak to trust; undefined for SHA-256, SHA-384 and SHA-512. */
export function weakDigestOf({ digest }: Pick<PgpSignature, 'digest'>): string | undefined {
  return digests.has(digest) ? undefined : (weakDigests.get(digest) ?? `digest ${digest}`)
}

/** Whether the rest is multiprecision integers with their exact bit counts, and nothing after them. */
function areCanonicalNumbers(bytes: Buffer): boolean {
  let at = 0
  while (at < bytes.length) {
    if (at + 2 > bytes.length) return false
    const bits = bytes.readUInt16BE(at)
    const length = Math.ceil(bits / 8)
    const first = bytes[at + 2] ?? 0
    if (bits === 0 || at + 2 + length > bytes.length || 32 - Math.clz32(first) !== ((bits - 1) % 8) + 1) return false
    at += 2 + length
  }
  return true
}

/** Names a key that is too weak to trust: DSA, RSA under 2,048 bits, anything but ECDSA (19) and EdDSA (22); otherwise undefined. */
export function weaknessOf({ algorithm, rsaBits }: Pick<PgpKey, 'algorithm' | 'rsaBits'>): string | undefined {
  if (algorithm === 17) return 'DSA'
  if (rsaBits !== undefined) return rsaBits < 2048 ? `RSA of ${rsaBits} bits` : undefined
  return algorithm === 19 || algorithm === 22 ? undefined : `public-key algorithm ${algorithm}`
}
