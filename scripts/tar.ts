/**
 * A tar archive, the same bytes for the same files. Pure.
 */

const block = 512
const longestName = 100

/** `isProgram`: everybody may run it. */
export type TarFile = { path: string; content: string | Buffer; isProgram?: boolean }

/** Files with their paths in the archive. Throws an Error for a path that does not fit into a header (100 bytes). */
export function tarOf(files: readonly TarFile[]): Buffer {
  const parts = files.flatMap(({ path, content, isProgram = false }) => {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    return [header(path, bytes.length, isProgram), bytes, Buffer.alloc(-bytes.length & (block - 1))]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * block)])
}

/** The header of POSIX.1-1988 (ustar) for a regular file that anyone may read (and run, if it is a program), of no time and no owner. */
function header(path: string, size: number, isProgram: boolean): Buffer {
  if (Buffer.byteLength(path) > longestName) throw new Error(`${path}: longer than ${longestName} bytes, the maximum of a tar header`)
  const bytes = Buffer.alloc(block)
  const octal = (value: number, at: number, length: number): void =>
    void bytes.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1')
  bytes.write(path, 0)
  octal(isProgram ? 0o755 : 0o644, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(0, 136, 12)
  bytes.write('0', 156, 'latin1')
  bytes.write('ustar', 257, 'latin1')
  bytes.write('00', 263, 'latin1')
  // The checksum counts its own field as spaces.
  bytes.fill(' ', 148, 156)
  const sum = bytes.reduce((total, byte) => total + byte, 0)
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return bytes
}
