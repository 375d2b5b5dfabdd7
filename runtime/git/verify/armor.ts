/**
 * Decodes ASCII armor strictly: one block, canonical base64, a correct checksum, nothing before or after it. Accepted input has exactly one encoding,
 * except for the armor headers Version and Comment, which are ignored. Pure.
 */

/** The bytes inside a block, or why it was refused, worded to follow the name of the object. */
export type Decoded = { kind: 'bytes'; bytes: Buffer } | { kind: 'refused'; why: string }

const headerPattern = /^(?:Version|Comment): [\x20-\x7e]{0,200}$/

/** One OpenPGP block with the label, such as `PGP SIGNATURE`. */
export function decodePgp(armor: string, label: string): Decoded {
  const lines = body(armor, label)
  if (lines === undefined) return refused
  const empty = lines.indexOf('')
  if (empty < 0 || !lines.slice(0, empty).every((line) => headerPattern.test(line))) return refused
  const encoded = lines.slice(empty + 1)
  const sum = encoded.at(-1)?.startsWith('=') === true ? encoded.pop()?.slice(1) : undefined
  const bytes = base64(encoded)
  if (bytes === undefined) return refused
  if (sum !== undefined && sum !== checksum(bytes)) return refused
  return { kind: 'bytes', bytes }
}

/** One `SSH SIGNATURE` block. */
export function decodeSsh(armor: string): Decoded {
  const lines = body(armor, 'SSH SIGNATURE')
  const bytes = lines === undefined ? undefined : base64(lines)
  return bytes === undefined ? refused : { kind: 'bytes', bytes }
}

/** Encodes bytes in the armor that ssh-keygen accepts. */
export function encodeSsh(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? []
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n')
}

const refused: Decoded = { kind: 'refused', why: 'carries a signature whose armor is damaged' }

/** The lines between first and last; the armor may end in one empty line, as some programs write it. */
function body(armor: string, label: string): string[] | undefined {
  const lines = armor.split('\n')
  for (let spare = 0; spare < 2 && lines.at(-1) === ''; spare += 1) lines.pop()
  if (lines.shift() !== `-----BEGIN ${label}-----` || lines.pop() !== `-----END ${label}-----`) return undefined
  return lines
}

/** Decodes base64; undefined unless the text is canonical and its lines have one length. */
function base64(lines: readonly string[]): Buffer | undefined {
  const width = lines[0]?.length ?? 0
  const isEven = lines.every((line, index) => line !== '' && (index === lines.length - 1 ? line.length <= width : line.length === width))
  if (width === 0 || !isEven) return undefined
  const text = lines.join('')
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** CRC-24 of RFC 4880 section 6, in base64. */
function checksum(bytes: Buffer): string {
  let crc = 0xb704ce
  for (const byte of bytes) {
    crc ^= byte << 16
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x800000) === 0 ? crc << 1 : (crc << 1) ^ 0x1864cfb
  }
  return Buffer.from([(crc >> 16) & 0xff, (crc >> 8) & 0xff, crc & 0xff]).toString('base64')
}
