/**
 * Reads the signing keys from a Secret: each entry of its data is a file of OpenPGP public keys in ASCII armor, or of SSH public keys, one a line. An
 * unreadable entry makes the whole Secret unusable, so that a key that was added or revoked is never ignored. Pure.
 */
import { printable } from '../../api/values.ts'
import { decodePgp } from './armor.ts'
import { keysOf, packetsOf, type PgpKey, privateKey } from './openpgp.ts'
import { parseKeyLine, type SshKey } from './ssh-keys.ts'

/** Every key of one Secret; fingerprints are as gpgv and ssh-keygen print them. */
export type Keyring = {
  /** All OpenPGP keys, as gpgv takes them; empty when there are none. */
  pgp: Buffer
  /** Keys and subkeys by fingerprint. */
  pgpKeys: ReadonlyMap<string, PgpKey>
  /** By fingerprint. */
  sshKeys: ReadonlyMap<string, SshKey>
}

const pgpLabel = 'PGP PUBLIC KEY BLOCK'
const pgpBegin = `-----BEGIN ${pgpLabel}-----`
const pgpEnd = `-----END ${pgpLabel}-----`

/** Subkeys count. Reading them blocks the process for some milliseconds, before each check that has no result yet. */
const maxKeys = 500
/** Names and signatures of the keys. */
const maxPackets = 10_000

/** `files`: the Secret's data. `why` names the entry, and is worded to follow the name of the Secret. */
export function readKeyring(files: ReadonlyMap<string, Buffer>): { kind: 'keyring'; keyring: Keyring } | { kind: 'unusable'; why: string } {
  const blocks: Buffer[] = []
  const pgpKeys = new Map<string, PgpKey>()
  const sshKeys = new Map<string, SshKey>()
  const left = { keys: maxKeys, packets: maxPackets }
  const unusable = (file: string, why: string) => ({ kind: 'unusable', why: `key ${printable(file)} ${why}` }) as const
  for (const [file, content] of files) {
    const found = readFile(content.toString('latin1'), left)
    if (left.keys < 0) return { kind: 'unusable', why: `contains more than ${maxKeys} keys; keep those that may sign` }
    if (left.packets < 0)
      return { kind: 'unusable', why: `contains more than ${maxPackets} PGP packets; export the keys with --export-options export-minimal` }
    if ('why' in found) return unusable(file, found.why)
    for (const key of found.pgpKeys) {
      // gpgv uses the first of two copies, which may be the one from before the key was revoked.
      if (pgpKeys.has(key.fingerprint)) return unusable(file, `contains ${key.fingerprint} more than once`)
      pgpKeys.set(key.fingerprint, key)
    }
    for (const key of found.sshKeys) {
      if (sshKeys.has(key.fingerprint)) return unusable(file, `contains ${key.fingerprint} more than once`)
      sshKeys.set(key.fingerprint, key)
    }
    blocks.push(...found.blocks)
  }
  if (pgpKeys.size + sshKeys.size === 0) return { kind: 'unusable', why: 'contains no key' }
  return { kind: 'keyring', keyring: { pgp: Buffer.concat(blocks), pgpKeys, sshKeys } }
}

type KeyringContents = { blocks: Buffer[]; pgpKeys: PgpKey[]; sshKeys: SshKey[] }

/** What the Secret may still contain; below zero: too much. */
type Left = { keys: number; packets: number }

/** The blocks and lines of one file, up to the first that is too much; empty lines and comments are skipped. Lowers `left`. */
function readFile(text: string, left: Left): KeyringContents | { why: string } {
  const found: KeyringContents = { blocks: [], pgpKeys: [], sshKeys: [] }
  const lines = text.split('\n').map((line) => line.trim())
  for (let at = 0; at < lines.length && left.keys >= 0 && left.packets >= 0; at += 1) {
    const line = lines[at] ?? ''
    if (line === '' || line.startsWith('#')) continue
    if (line === pgpBegin) {
      const end = lines.indexOf(pgpEnd, at)
      const block = readBlock(lines.slice(at, end < 0 ? at : end + 1), left)
      if ('why' in block) return block
      found.blocks.push(block.bytes)
      found.pgpKeys.push(...block.keys)
      at = end
      continue
    }
    if (/^-----BEGIN [A-Z ]*PRIVATE KEY/.test(line)) return { why: privateKey }
    const key = parseKeyLine(line)
    if ('why' in key) return { why: `${key.why} (line ${at + 1})` }
    left.keys -= 1
    found.sshKeys.push(key)
  }
  return found.blocks.length + found.sshKeys.length === 0 ? { why: 'contains no key' } : found
}

function readBlock(lines: readonly string[], left: Left): { bytes: Buffer; keys: PgpKey[] } | { why: string } {
  const decoded = decodePgp(lines.join('\n'), pgpLabel)
  const packets = decoded.kind === 'bytes' ? packetsOf(decoded.bytes, left.packets) : undefined
  if (decoded.kind !== 'bytes' || packets === undefined) return { why: 'contains a damaged PGP block' }
  left.packets -= packets.length
  const keys = left.packets < 0 ? [] : keysOf(packets)
  if ('why' in keys) return keys
  left.keys -= keys.length
  return { bytes: decoded.bytes, keys }
}
