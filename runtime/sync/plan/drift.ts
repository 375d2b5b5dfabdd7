/**
 * Decides whether a difference from the written file matters: a gateway rewrites some files on its own. Pure.
 */
import type { FileStat, Owned } from '../model/manifest.ts'

/** Whether a file counts as unchanged without being read: equal size, modification time, inode and permissions. */
export function sameStat(a: FileStat, b: FileStat): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino && a.mode === b.mode
}

/** The known verdict on a file in this state; undefined if it must be read. */
export function knownVerdict(owned: Owned, stat: FileStat): 'clean' | 'drift' | 'harmless' | undefined {
  if (sameStat(owned.stat, stat)) return 'clean'
  return owned.driftVerdict !== undefined && sameStat(owned.driftVerdict, stat) ? owned.driftVerdict.verdict : undefined
}

/** The active mode's security-properties, which a gateway rewrites on its first boot. */
export function isFirstBootRewrite(path: string, mode: string | undefined): boolean {
  if (mode === undefined || mode === '') return false
  return path.toLowerCase().startsWith(`config/resources/${mode.toLowerCase()}/ignition/security-properties/`)
}

/** Files that record when and by whom a resource was last saved. */
export function mayHoldModification(path: string): boolean {
  return /(?:^|\/)(?:unary-)?resource\.json$/.test(path)
}

/** Whether two manifests of a resource differ in nothing but `attributes.lastModification` and its signature. */
export function differsInModificationOnly(written: string, present: string): boolean {
  const a = withoutModification(written)
  const b = withoutModification(present)
  return a !== undefined && a === b
}

function withoutModification(text: string): string | undefined {
  try {
    return JSON.stringify(sorted(JSON.parse(text), 0))
  } catch {
    return undefined
  }
}

function sorted(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => sorted(item, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => [
    key,
    depth === 0 && key === 'attributes' && typeof member === 'object' && member !== null && !Array.isArray(member)
      ? sorted(Object.fromEntries(Object.entries(member).filter(([name]) => !/^lastModification(?:Signature)?$/.test(name))), 1)
      : sorted(member, depth + 1),
  ])
  return Object.fromEntries(entries.toSorted(([x], [y]) => (x < y ? -1 : 1)))
}
