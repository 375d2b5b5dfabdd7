/**
 * The names of resources in the other kind of root, from their paths only: the database connections that a named query may name, the
 * projects whose scripts a gateway may run. Pure.
 */
import { foldName } from '../../api/values.ts'
import type { FileTable } from '../model/file-table.ts'
import { projectType, targets } from '../model/references.ts'
import { decodeName } from '../model/resources.ts'
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
    for (const path of pathsIn(files, root)) {
      const [project = '', name, ...rest] = path.split('/', 3)
      if (name === projectManifest && rest.length === 0) projects.add(foldName(project))
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
    for (const path of pathsIn(files, root)) {
      if (!path.endsWith(`/${manifestName}`)) continue
      const [owner = '', module = '', type = '', ...below] = path.slice(0, -manifestName.length - 1).split('/')
      const id = `${module}/${type}`
      if (
        below.length === 0 ||
        (targets[id]?.inProjects === true) !== inProjects ||
        targets[id] === undefined ||
        foldName(owner) === 'local'
      )
        continue
      const name = foldName(`${prefix(owner)}${below.map(decodeName).join('/')}`)
      names.set(id, (names.get(id) ?? new Set()).add(name))
    }
  }
  return names
}

function* pathsIn(files: FileTable, root: string): Generator<string> {
  const { start, end } = files.rangeBelow(root)
  const offset = root === '' ? 0 : root.length + 1
  for (let index = start; index < end; index += 1) yield files.path(index).slice(offset)
}

function below(root: string, path: string): string {
  return root === '' ? path : `${root}/${path}`
}
