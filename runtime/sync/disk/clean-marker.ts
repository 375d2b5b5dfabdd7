/**
 * Identifies the boot of the machine, and whether files written in an earlier boot can be trusted to be on disk: files are not synced one
 * by one, so a power loss may leave any file of the last minutes empty.
 */
import * as fs from 'node:fs'
import { isMissing, readSmallFile, writeDurably } from './disk.ts'
import { withEngineFolder } from './folders.ts'
import type { State } from '../model/manifest.ts'
import { dropDurably } from './manifest-file.ts'

/** Linux writes dirty pages back after 30 s by default; after four times that they are taken to be on disk. */
const settledMs = 120_000

/** Changes with each boot of the machine; `''` if the kernel does not provide it, so that all boots count as one. */
export function currentBootId(): string {
  try {
    return fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}

/** Monotonic milliseconds, comparable between the processes of one boot. */
export function sinceBootMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** Whether every owned file must be verified by its content, because the machine restarted before the last apply was on disk. */
export function mustVerify(dataDir: string, state: State, bootId: string): boolean {
  return state.bootId !== bootId && readClean(dataDir) !== state.publish
}

/** Writes the marker once the last apply is on disk, so that a later boot need not read every file. */
export function markCleanWhenSettled(dataDir: string, state: State, nowMs: number): void {
  if (nowMs - state.publishedAt < settledMs || readClean(dataDir) === state.publish) return
  withEngineFolder(dataDir, (engine) => writeDurably(engine.at('clean'), [state.publish]))
}

/** Removes the marker; call this before the first rename of an apply, which invalidates it. */
export function dropClean(dataDir: string): void {
  withEngineFolder(dataDir, (engine) => dropDurably(engine.at('clean'), engine.folder()))
}

function readClean(dataDir: string): string | undefined {
  try {
    return withEngineFolder(dataDir, (engine) => readSmallFile(engine.at('clean'), 1024)?.toString('utf8'))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
