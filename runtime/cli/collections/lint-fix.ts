/**
 * Implements `lint --fix`: fixes findings that have only one solution in the files of a directory: a missing `config-mode.json`, missing
 * `attributes`, an entry for an optional file that does not exist, a byte order mark, a stale signature. Other findings need a decision.
 */
import { closeSync, existsSync, lstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { CheckFinding } from '../../validation/rules/findings.ts'
import type { RuleId } from '../../validation/rules/rules.ts'
import { modeManifest } from '../../validation/model/tree.ts'
import { optionalFiles } from '../../validation/rules/about-resources.ts'
import { Fault } from '../../platform/fault.ts'
import { isObject } from '../../platform/text/json.ts'
import { sign } from './sign-resources.ts'

/** In this order: changes to the content of a resource come before its signature. */
export const fixable: readonly RuleId[] = [
  'missing-config-mode',
  'missing-attributes',
  'listed-file-missing',
  'byte-order-mark',
  'stale-signature',
]

/** A finding that was fixed, or `problem`: why it was not; `path` is relative to the repository. */
export type Fixed = { rule: RuleId; path: string; problem?: string }

/** The parents that every gateway writes for its own collections; `local` belongs to one machine and does not belong in a repository. */
const defaultParents: Readonly<Record<string, string>> = { external: 'system', core: 'external' }
const byteOrderMark = '\uFEFF'

/** Fixes the findings of one rule. `top` is the folder that their paths are relative to. Throws InvalidConfiguration if a file cannot be written. */
export async function fixFindings(top: string, rule: RuleId, findings: readonly CheckFinding[], signal: AbortSignal): Promise<Fixed[]> {
  const fixed: Fixed[] = []
  for (const { path: at } of findings.filter((finding) => finding.rule === rule)) {
    const done = await fixOne(top, rule, at, signal).catch((error: unknown) => {
      if (error instanceof Fault) return false
      const why = error instanceof Error ? error.message : String(error)
      throw new Fault('InvalidConfiguration', `${at} cannot be fixed: ${why}`, { cause: error })
    })
    if (done === true) fixed.push({ rule, path: at })
    else if (done !== false) fixed.push({ rule, path: at, problem: done })
  }
  return fixed
}

/** Returns why the finding was not fixed, if that is known. */
async function fixOne(top: string, rule: RuleId, at: string, signal: AbortSignal): Promise<boolean | string> {
  const full = path.join(top, at)
  if (rule === 'missing-config-mode') return addManifest(full)
  if (rule === 'missing-attributes') return changeManifest(full, addAttributes)
  if (rule === 'listed-file-missing') return changeManifest(full, (manifest) => dropEntries(manifest, path.dirname(full)))
  if (rule === 'byte-order-mark') return removeMark(full)
  const folder = path.basename(full) === 'resource.json' ? path.dirname(full) : full
  const { signed, unsigned } = await sign(folder, {}, signal)
  return signed.length > 0 ? true : (unsigned[0]?.why ?? false)
}

function addManifest(folder: string): boolean {
  const name = path.basename(folder)
  if (name === 'local' || !lstatSync(folder).isDirectory()) return false
  const manifest = { title: name, description: '', enabled: true, inheritable: true, parent: defaultParents[name] ?? 'core' }
  // Never overwrites one that was written in the meantime.
  const file = openSync(path.join(folder, modeManifest), 'wx')
  try {
    writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`)
  } finally {
    closeSync(file)
  }
  return true
}

type Manifest = Record<string, unknown>

/** Writes a manifest as `change` returns it; undefined: there is nothing to change. */
function changeManifest(file: string, change: (manifest: Manifest) => Manifest | undefined): boolean {
  const text = readFileSync(file, 'utf8')
  const manifest: unknown = JSON.parse(text)
  const changed = isObject(manifest) ? change(manifest) : undefined
  if (changed === undefined) return false
  replaceFile(file, `${JSON.stringify(changed, undefined, 2)}${text.endsWith('\n') ? '\n' : ''}`)
  return true
}

function addAttributes(manifest: Manifest): Manifest | undefined {
  return manifest['attributes'] === undefined ? { ...manifest, attributes: {} } : undefined
}

/** Removes optional files that do not exist from the list of a manifest. */
function dropEntries(manifest: Manifest, folder: string): Manifest | undefined {
  const { files } = manifest
  if (!Array.isArray(files)) return undefined
  const isGone = (name: unknown): boolean => typeof name === 'string' && optionalFiles.has(name) && !existsSync(path.join(folder, name))
  const kept = files.filter((name) => !isGone(name))
  return kept.length === files.length ? undefined : { ...manifest, files: kept }
}

function removeMark(file: string): boolean {
  const stat = lstatSync(file)
  if (!stat.isFile()) return false
  const text = readFileSync(file, 'utf8')
  if (!text.startsWith(byteOrderMark) || !Buffer.from(text).equals(readFileSync(file))) return false
  replaceFile(file, text.slice(1))
  return true
}

function replaceFile(file: string, text: string): void {
  const aside = `${file}.tmp`
  try {
    writeFileSync(aside, text, { mode: lstatSync(file).mode & 0o777, flag: 'wx' })
    renameSync(aside, file)
  } finally {
    rmSync(aside, { force: true })
  }
}
