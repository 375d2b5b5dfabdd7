/**
 * The folder of a mirror: made where there is none, cleared of what a killed git leaves, made anew where it is damaged. Losing one costs
 * a fetch, so nothing is repaired.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { Fault } from '../fault.ts'
import { type GitLimits, runGit } from './git.ts'

const timeoutMs = 60_000
/** Where the refs that hold commits stand: out of the way of whatever a host may name. */
export const refFolder = 'refs/w/'

/** Makes sure that there is a mirror to work with; `damaged` hears why one was thrown away. No git may run in it meanwhile. */
export async function prepareFolder(folder: string, limits: GitLimits, damaged: (why: string) => void, signal: AbortSignal): Promise<void> {
  if (!fs.existsSync(path.join(folder, 'HEAD'))) return await create(folder, limits, signal)
  sweep(folder)
  try {
    // Reads the configuration, every ref and every commit that is kept.
    await runGit({ folder, args: ['for-each-ref', '--format=%(objecttype)'], timeoutMs }, { limits, signal })
  } catch (error) {
    if (!(error instanceof Fault) || error.reason === 'GitTimeout') throw error
    damaged(error.message)
    await create(folder, limits, signal)
  }
}

/** A new mirror is made aside and renamed, so that half of one is never taken for whole. */
async function create(folder: string, limits: GitLimits, signal: AbortSignal): Promise<void> {
  const aside = `${folder}.new`
  fs.rmSync(aside, { recursive: true, force: true })
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(aside, { recursive: true, mode: 0o700 })
  await runGit({ folder: aside, args: ['init', '-q', '--bare', '--template=', '.'], timeoutMs }, { limits, signal })
  fs.renameSync(aside, folder)
}

/** What a killed git leaves: locks that fail every later call, and halves of packs that fill the disk. No git may run meanwhile. */
export function sweep(folder: string): void {
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const { name } = entry
    if (!entry.isFile() || !/(?:\.lock|\.keep)$|^tmp_(?:pack|idx|obj|rev)_|^\.tmp-/.test(name)) continue
    fs.rmSync(path.join(entry.parentPath, name), { force: true })
  }
}

/** Drops the refs of commits that nobody keeps, and everything that only they needed; the packs become one. */
export async function repack(
  local: (args: readonly string[], signal: AbortSignal, input?: string) => Promise<Buffer>,
  kept: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> {
  const refs = (await local(['for-each-ref', '--format=%(refname)', refFolder], signal)).toString('latin1').split('\n').filter(Boolean)
  const dropped = refs.filter((ref) => !kept.has(ref.slice(refFolder.length)))
  await local(['update-ref', '--stdin'], signal, dropped.map((ref) => `delete ${ref}\n`).join(''))
  await local(['repack', '-a', '-d', '-q'], signal)
  await local(['prune', '--expire=now'], signal)
}
