/**
 * Reads Secrets of the standalone runner from files, on each use, so that a rotation needs no restart.
 */
import { createHash } from 'node:crypto'
import { open, readdir } from 'node:fs/promises'
import path from 'node:path'
import { Fault } from '../platform/fault.ts'
import { printable } from '../api/values.ts'
import type { ReadSecret } from '../git/remote/secrets.ts'

/** No key or token is larger. */
const maxSecretBytes = 64 * 1024

/** Reads a file and trims the line ending that editors add. Throws SecretNotFound if it is missing, empty or too large. */
export async function readSecretFile(file: string, label: string): Promise<string> {
  const text = await readBounded(file).catch((error: unknown) => {
    throw new Fault('SecretNotFound', `${label}: "${file}" cannot be read`, { cause: error })
  })
  if (text === undefined) throw new Fault('SecretNotFound', `${label}: "${file}" is larger than ${maxSecretBytes} bytes`)
  const secret = text.trim()
  if (secret === '') throw new Fault('SecretNotFound', `${label}: "${file}" is empty`)
  return secret
}

/** Reads `<folder>/<name>/<key>`, which corresponds to a key of a Secret. Throws SecretNotFound. */
export async function readSecret(folder: string | undefined, ref: { name: string; key: string }, label: string): Promise<string> {
  if (folder === undefined)
    throw new Fault('SecretNotFound', `${label} names Secret "${printable(ref.name)}"; specify --secrets <dir> with <dir>/<name>/<key>`)
  for (const part of [ref.name, ref.key]) {
    if (!isFileName(part)) {
      throw new Fault('SecretNotFound', `${label}: "${printable(part)}" is not a valid name of a Secret or key`)
    }
  }
  return await readSecretFile(path.join(folder, ref.name, ref.key), label)
}

function isFileName(part: string): boolean {
  return part !== '' && part !== '.' && part !== '..' && !/[/\\\0]/.test(part)
}

async function readBounded(file: string): Promise<string | undefined> {
  return (await readUpTo(file, maxSecretBytes))?.toString('utf8')
}

/** Reads a file; undefined if it is larger than `maxBytes`. */
async function readUpTo(file: string, maxBytes: number): Promise<Buffer | undefined> {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    if (size > maxBytes) return undefined
    const buffer = Buffer.alloc(Math.min(size, maxBytes) + 1)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
    return bytesRead > size ? undefined : buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** A Secret in a cluster cannot be larger either; a larger file is skipped. */
const maxKeyBytes = 1024 * 1024
const maxKeys = 256

/** Secrets as folders: `<folder>/<name>/<key>`, read on each use. Throws SecretNotFound for what cannot be read. */
export function readSecretFolder(folder: string | undefined): ReadSecret {
  return async (_namespace, name, signal) => {
    if (folder === undefined)
      throw new Fault(
        'SecretNotFound',
        `spec names Secret "${printable(name)}"; specify --secrets <dir> with <dir>/${printable(name)}/<key>`,
      )
    if (!isFileName(name)) return undefined
    const below = path.join(folder, name)
    const data = new Map<string, Buffer>()
    const hash = createHash('sha256')
    for (const key of await keysIn(below)) {
      signal.throwIfAborted()
      const content = await readUpTo(path.join(below, key), maxKeyBytes).catch((error: unknown) => {
        throw new Fault('SecretNotFound', `"${path.join(below, key)}" cannot be read`, { cause: error })
      })
      if (content === undefined) continue
      data.set(key, content)
      hash.update(JSON.stringify([key, content.length])).update(content)
    }
    return data.size === 0 ? undefined : { version: hash.digest('hex').slice(0, 32), data }
  }
}

/** Names of files, and of links to files, which is how a cluster mounts a Secret; empty if the folder is missing. */
async function keysIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const named = entries.filter((entry) => !entry.name.startsWith('..') && !entry.isDirectory())
  return named
    .map(({ name }) => name)
    .toSorted()
    .slice(0, maxKeys)
}
