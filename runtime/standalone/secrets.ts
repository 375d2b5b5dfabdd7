/**
 * Secrets of the standalone runner: files, read anew at each use so that a rotation needs no restart.
 */
import { open } from 'node:fs/promises'
import path from 'node:path'
import { Fault } from '../fault.ts'
import { printable } from '../gatewaysync/values.ts'

/** No key or token is larger. */
const maxSecretBytes = 64 * 1024

/** Reads a file and trims the line end that editors add. Throws SecretNotFound when it is missing, empty or too large. */
export async function readSecretFile(file: string, label: string): Promise<string> {
  const text = await readBounded(file).catch((error: unknown) => {
    throw new Fault('SecretNotFound', `${label}: "${file}" cannot be read`, { cause: error })
  })
  if (text === undefined) throw new Fault('SecretNotFound', `${label}: "${file}" is larger than ${maxSecretBytes} bytes`)
  const secret = text.trim()
  if (secret === '') throw new Fault('SecretNotFound', `${label}: "${file}" is empty`)
  return secret
}

/** Reads `<folder>/<name>/<key>`, which stands for the key of a Secret. Throws SecretNotFound. */
export async function readSecret(folder: string | undefined, ref: { name: string; key: string }, label: string): Promise<string> {
  if (folder === undefined)
    throw new Fault('SecretNotFound', `${label} names Secret "${printable(ref.name)}"; give --secrets <dir> with <dir>/<name>/<key>`)
  for (const part of [ref.name, ref.key]) {
    if (part === '' || part === '.' || part === '..' || /[/\\\0]/.test(part)) {
      throw new Fault('SecretNotFound', `${label}: "${printable(part)}" is no name of a Secret or key`)
    }
  }
  return await readSecretFile(path.join(folder, ref.name, ref.key), label)
}

async function readBounded(file: string): Promise<string | undefined> {
  await using handle = await open(file, 'r')
  const buffer = Buffer.alloc(maxSecretBytes + 1)
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
  return bytesRead > maxSecretBytes ? undefined : buffer.toString('utf8', 0, bytesRead)
}
