/**
 * Reads files and folders from the command line: with a size limit, and with the cause in the error.
 */
import { readFileSync, statSync } from 'node:fs'
import { Fault } from '../platform/fault.ts'

/** A GatewaySync is a few kilobytes. */
const maxManifestBytes = 1024 * 1024

const causes: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
}

/** Reads a text file. `subject` begins the message: `gs.yaml:`, `--token-file: key`. Throws InvalidConfiguration. */
export function readNamedFile(file: string, subject: string, maxBytes: number): string {
  try {
    if (statSync(file).size <= maxBytes) return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Fault('InvalidConfiguration', `${subject} cannot be read: ${causeOf(error)}`, { cause: error })
  }
  throw new Fault('InvalidConfiguration', `${subject} is larger than ${maxBytes} bytes`)
}

/** Reads the file with the GatewaySync. Throws InvalidConfiguration. */
export function readManifestFile(file: string): string {
  return readNamedFile(file, `${file}:`, maxManifestBytes)
}

/** Throws InvalidConfiguration. `label` is the option or target that names the folder. */
export function requireFolder(folder: string, label: string): void {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (stat?.isDirectory() === true) return
  throw new Fault('InvalidConfiguration', `${label}: "${folder}" ${stat === undefined ? 'does not exist' : 'is not a folder'}`)
}

function causeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return causes[code] ?? code
}
