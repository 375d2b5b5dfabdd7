/**
 * The type of rule rows: a valid tree with one defect.
 */
import type { CheckOptions } from '../../../runtime/validation/run/check-root.ts'
import { type Files, root, validTree } from '../collection-tree.ts'

/**
 * `findings` as `<severity> <rule> <path>`; the path is relative to the root if it is inside. `isAlone`: other resources would cause
 * additional findings.
 */
export type Row = { fault: string; files: Files; findings: string[]; options?: Partial<CheckOptions>; isAlone?: true }

export function changed(changes: Record<string, string | null>, base = validTree()): Files {
  const files = { ...base }
  for (const [path, content] of Object.entries(changes)) {
    if (content === null) delete files[`${root}/${path}`]
    else files[`${root}/${path}`] = content
  }
  return files
}

export const withResource = (...added: Files[]): Files => Object.assign(validTree(), ...added) as Files
export const systemProperties = 'core/ignition/system-properties/resource.json'
export const manifest = (more: object): string =>
  JSON.stringify({ scope: 'A', version: 1, restricted: false, overridable: true, files: ['config.json'], attributes: {}, ...more })
