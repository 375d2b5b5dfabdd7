/**
 * Compares a folder with a commit, byte for byte and file for file.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Repository } from './repository.ts'

/** Where a folder of a repository belongs. */
export type Placed = { source: string; destination: string }

/** Every file below a folder, by its path relative to it; nothing where there is no folder. */
export function listTree(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
      .toSorted()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** The files that a commit holds below a folder, by path below it. */
export function listCommit({ git }: Repository, commit: string, folder: string): Map<string, { path: string; id: string }> {
  const lines = git('ls-tree', '-r', '-z', '--full-tree', commit, `${folder}/`).toString('utf8').split('\0').filter(Boolean)
  return new Map(
    lines.flatMap((line): [string, { path: string; id: string }][] => {
      const [, type, id, full] = /^[0-7]+ (\w+) ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
      if (type !== 'blob' || id === undefined || full === undefined) return []
      return [[full.slice(folder.length + 1), { path: full, id }]]
    }),
  )
}

/** What differs between a data directory and a commit, as sentences; `ignored` says which paths below a destination nobody delivers. */
export function differences(
  repository: Repository,
  commit: string,
  dataDir: string,
  placed: readonly Placed[],
  ignored: (path: string) => boolean = () => false,
): string[] {
  return placed.flatMap(({ source, destination }) => {
    const wanted = listCommit(repository, commit, source)
    for (const file of wanted.keys()) if (ignored(`${destination}/${file}`)) wanted.delete(file)
    const present = new Set(listTree(path.join(dataDir, destination)).filter((file) => !ignored(`${destination}/${file}`)))
    const missing = [...wanted.keys()].filter((file) => !present.has(file)).map((file) => `${destination}/${file} is missing`)
    const extra = [...present].filter((file) => !wanted.has(file)).map((file) => `${destination}/${file} should not be there`)
    const changed = [...wanted]
      .filter(([file]) => present.has(file))
      .filter(([file, { id }]) => !readFileSync(path.join(dataDir, destination, file)).equals(repository.git('cat-file', 'blob', id)))
      .map(([file]) => `${destination}/${file} differs`)
    return [...missing, ...extra, ...changed]
  })
}
