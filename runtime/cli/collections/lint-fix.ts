/**
 * `lint --fix`: puts right what has one answer, in the files of a directory: a `config-mode.json` that is missing, a byte order mark, a
 * stale signature. Everything else is somebody's decision.
 */
import { closeSync, lstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { CheckFinding } from '../../collections/rules/findings.ts'
import type { RuleId } from '../../collections/rules/rules.ts'
import { modeManifest } from '../../collections/model/tree.ts'
import { Fault } from '../../fault.ts'
import { sign } from './sign-resources.ts'

/** In this order: what changes the content of a resource comes before its signature. */
export const fixable: readonly RuleId[] = ['missing-config-mode', 'byte-order-mark', 'stale-signature']

/** A finding that was put right; `path` is relative to the repository. */
export type Fixed = { rule: RuleId; path: string }

/** What every gateway writes for the collections of its own; `local` belongs to one machine and is for no repository. */
const usualParents: Readonly<Record<string, string>> = { external: 'system', core: 'external' }
const byteOrderMark = '\uFEFF'

/** Puts the findings of one rule right. `top` is the folder that their paths begin at. Throws InvalidConfiguration where a file cannot be written. */
export async function fixFindings(top: string, rule: RuleId, findings: readonly CheckFinding[], signal: AbortSignal): Promise<Fixed[]> {
  const fixed: Fixed[] = []
  for (const { path: at } of findings.filter((finding) => finding.rule === rule)) {
    const isFixed = await fixOne(top, rule, at, signal).catch((error: unknown) => {
      if (error instanceof Fault) return false
      const why = error instanceof Error ? error.message : String(error)
      throw new Fault('InvalidConfiguration', `${at} cannot be put right: ${why}`, { cause: error })
    })
    if (isFixed) fixed.push({ rule, path: at })
  }
  return fixed
}

async function fixOne(top: string, rule: RuleId, at: string, signal: AbortSignal): Promise<boolean> {
  const full = path.join(top, at)
  if (rule === 'missing-config-mode') return addManifest(full)
  if (rule === 'byte-order-mark') return removeMark(full)
  const folder = path.basename(full) === 'resource.json' ? path.dirname(full) : full
  return (await sign(folder, {}, signal)).signed.length > 0
}

function addManifest(folder: string): boolean {
  const name = path.basename(folder)
  if (name === 'local' || !lstatSync(folder).isDirectory()) return false
  const manifest = { title: name, description: '', enabled: true, inheritable: true, parent: usualParents[name] ?? 'core' }
  // Never over one that somebody has written meanwhile.
  const file = openSync(path.join(folder, modeManifest), 'wx')
  try {
    writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`)
  } finally {
    closeSync(file)
  }
  return true
}

function removeMark(file: string): boolean {
  const stat = lstatSync(file)
  if (!stat.isFile()) return false
  const text = readFileSync(file, 'utf8')
  if (!text.startsWith(byteOrderMark) || !Buffer.from(text).equals(readFileSync(file))) return false
  const aside = `${file}.tmp`
  try {
    writeFileSync(aside, text.slice(1), { mode: stat.mode & 0o777, flag: 'wx' })
    renameSync(aside, file)
  } finally {
    rmSync(aside, { force: true })
  }
  return true
}
