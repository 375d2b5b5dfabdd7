/**
 * Tar archives with any headers, as no tar would write them.
 */

export type Entry = { name: string; type?: string; content?: string; link?: string; size?: string; prefix?: string }

/** An entry with any header, right or wrong. */
export function entry({ name: file, type = '0', content = '', link = '', size, prefix = '' }: Entry): Buffer {
  const header = Buffer.alloc(512)
  header.write(file, 0, 100)
  header.write('0000644\0', 100)
  header.write(size ?? `${Buffer.byteLength(content).toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  header.write('        ', 148)
  header.write(type, 156)
  header.write(link, 157)
  header.write('ustar', 257)
  header.write('00', 263)
  header.write(prefix, 345)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const padded = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512)
  padded.write(content)
  return Buffer.concat([header, padded])
}

export const archiveOf = (...entries: readonly Entry[]): Buffer => Buffer.concat([...entries.map(entry), Buffer.alloc(1024)])
