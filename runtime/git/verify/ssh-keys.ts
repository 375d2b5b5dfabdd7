/**
 * Public keys of SSH: lines of a `.pub` file and of an allowed_signers file (ssh-keygen(1)), and the key that made a signature. Pure.
 */
import { createHash } from 'node:crypto'

/** One key that may sign. */
export type SshKey = {
  /** `SHA256:…`, as ssh-keygen prints it. */
  fingerprint: string
  type: string
  /** The key as the protocol writes it. */
  blob: Buffer
  /** From when and until when it may sign, as allowed_signers writes it. */
  validAfter: string | undefined
  validBefore: string | undefined
  /** The owner: the principals or the comment of its line. */
  by: string | undefined
}

const types = new Set([
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
  'ssh-dss',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
])

/** Reads a line with one key; `why` is worded to follow the name of the Secret's entry. */
export function parseKeyLine(line: string): SshKey | { why: string } {
  const words = line.trim().split(/[ \t]+/)
  const plain = types.has(words[0] ?? '')
  const principals = plain ? undefined : words.shift()
  const optionText = plain || types.has(words[0] ?? '') ? '' : (words.shift() ?? '')
  const [type = '', encoded = '', ...comment] = words
  if (!types.has(type)) return { why: 'is neither an SSH public key nor a line of allowed_signers' }
  const options = optionsOf(optionText)
  if ('why' in options) return options
  const blob = Buffer.from(encoded, 'base64')
  if (blob.toString('base64') !== encoded || !isWhole(blob) || readString(blob, 0)?.toString('latin1') !== type)
    return { why: 'contains a damaged key' }
  const by = principals ?? (comment.join(' ') || undefined)
  return { fingerprint: fingerprintOf(blob), type, blob, ...options, by }
}

type Options = Pick<SshKey, 'validAfter' | 'validBefore'>

/** `namespaces`, `valid-after` and `valid-before`; a certificate authority would let keys sign that are not in the Secret. */
function optionsOf(text: string): Options | { why: string } {
  const options: Options = { validAfter: undefined, validBefore: undefined }
  const parts = text === '' ? [] : (text.match(/[^,"]+(?:"[^"]*")?/g) ?? [])
  if (parts.join(',') !== text) return { why: 'has options that cannot be read' }
  for (const part of parts) {
    const [, name = '', value = ''] = /^([a-z-]+)(?:="?([^"]*)"?)?$/i.exec(part) ?? []
    const option = name.toLowerCase()
    if (option === 'namespaces') {
      if (!value.split(',').includes('git')) return { why: 'is for namespaces that do not include git' }
    } else if (option === 'valid-after' || option === 'valid-before') {
      if (!/^[0-9]{8}(?:[0-9]{4}(?:[0-9]{2})?)?Z?$/.test(value)) return { why: `has a ${option} that is not a time` }
      if (option === 'valid-after') options.validAfter = value
      else options.validBefore = value
    } else {
      return { why: `has the option "${name}", which is not supported` }
    }
  }
  return options
}

/** The signing key that a decoded SSH signature names; undefined if it is not a signature. */
export function signingKeyOf(signature: Buffer): Buffer | undefined {
  if (signature.subarray(0, 6).toString('latin1') !== 'SSHSIG' || signature.length < 10 || signature.readUInt32BE(6) !== 1) return undefined
  return readString(signature, 10)
}

/** The fingerprint of a public key as ssh-keygen prints it: `SHA256:` and base64 without padding. */
export function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
}

/** Names a key that is too weak to trust: DSA, or RSA under 2,048 bits; otherwise undefined. */
export function weaknessOf({ type, blob }: Pick<SshKey, 'type' | 'blob'>): string | undefined {
  if (type === 'ssh-dss') return 'DSA'
  if (type !== 'ssh-rsa') return undefined
  const exponent = readString(blob, 4 + type.length)
  const modulus = exponent === undefined ? undefined : readString(blob, 4 + type.length + 4 + exponent.length)
  const first = modulus?.findIndex((byte) => byte !== 0) ?? -1
  const bits = modulus === undefined || first < 0 ? 0 : (modulus.length - first - 1) * 8 + 32 - Math.clz32(modulus[first] ?? 0)
  return bits < 2048 ? `RSA of ${bits} bits` : undefined
}

/** Whether strings of the protocol fill it exactly. */
function isWhole(blob: Buffer): boolean {
  let at = 0
  while (at < blob.length) {
    const next = readString(blob, at)
    if (next === undefined) return false
    at += 4 + next.length
  }
  return true
}

/** A string of the protocol: four bytes of length, then that many bytes. */
function readString(bytes: Buffer, at: number): Buffer | undefined {
  if (at + 4 > bytes.length) return undefined
  const end = at + 4 + bytes.readUInt32BE(at)
  return end > bytes.length ? undefined : bytes.subarray(at + 4, end)
}
