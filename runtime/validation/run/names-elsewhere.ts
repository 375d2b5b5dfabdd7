/**
 * The names of resources in the other kind of root, from their paths only: the database connections that a named query may name, the
 * projects whose scripts a gateway may run. Pure.
 */
import { foldName } from '../../api/values.ts'
import type { FileTable } from '../model/file-table.ts'
import { projectType, targets } from '../model/references.ts'
import { decodePath } from '../model/resources.ts'
import { aboveRepository, manifestName, modeManifest, projectManifest } from '../model/tree.ts'

type Names = ReadonlyMap<string, ReadonlySet<string>>

/** Folded names by type, of every collection except `local`. Undefined if no root has a complete `core`. */
export function namesInCollections(files: FileTable, roots: readonly string[]): Names | undefined {
  const whole = roots.filter((root) => files.has(below(root, `core/${modeManifest}`)))
  if (whole.length === 0) return undefined
  return namesOf(files, whole, false, () => '')
}

/** Folded names by type, those of resources prefixed with their project. Undefined if there are no projects with a name. */
export function namesInProjects(files: FileTable, roots: readonly string[]): Names | undefined {
  const named = roots.filter((root) => root !== aboveRepository)
  if (named.length === 0) return undefined
  const names = namesOf(files, named, true, (project) => `${project}/`)
  const projects = new Set<string>()
  for (const root of named) {
    const { start, end, offset } = placesBelow(files, root)
    for (let index = start; index < end; index += 1) {
      const slash = files.slashAfter(index, offset)
      if (slash >= 0 && files.isRest(index, slash + 1, projectManifest)) projects.add(foldName(files.part(index, offset, slash)))
    }
  }
  return names.set(projectType, projects)
}

function namesOf(
  files: FileTable,
  roots: readonly string[],
  inProjects: boolean,
  prefix: (owner: string) => string,
): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>()
  for (const root of roots) {
    const { start, end, offset } = placesBelow(files, root)
    for (let index = start, next = start; index < end; index = next) {
      const type = typeAt(files, index, offset)
      next = index + 1
      if (type === undefined) continue
      const { owner, id, below } = type
      while (next < end && files.isSamePart(index, next, offset, below)) next += 1
      if (targets[id] === undefined || (targets[id].inProjects === true) !== inProjects || foldName(owner) === 'local') continue
      const own = names.get(id) ?? new Set<string>()
      for (let at = index; at < next; at += 1) {
        const slash = files.lastSlash(at)
        if (slash < below || !files.isRest(at, slash + 1, manifestName)) continue
        own.add(foldName(`${prefix(owner)}${decodePath(files.part(at, below, slash))}`))
      }
      names.set(id, own)
    }
  }
  return names
}

/** The files of a root; their paths in it begin at `offset`. */
function placesBelow(files: FileTable, root: string): { start: number; end: number; offset: number } {
  return { ...files.rangeBelow(root), offset: root === '' ? 0 : Buffer.byteLength(root) + 1 }
}

/** The collection or project of a file and the type of its resource; the name begins at `below`. */
function typeAt(files: FileTable, index: number, offset: number): { owner: string; id: string; below: number } | undefined {
  const owner = files.slashAfter(index, offset)
  const module = owner < 0 ? -1 : files.slashAfter(index, owner + 1)
  const type = module < 0 ? -1 : files.slashAfter(index, module + 1)
  if (type < 0) return undefined
  return { owner: files.part(index, offset, owner), id: files.part(index, owner + 1, type), below: type + 1 }
}

function below(root: string, path: string): string {
  return root === '' ? path : `${root}/${path}`
}
