/**
 * Compares a gateway's folder with git, byte for byte and file for file; used by the quickstart and by tests.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Where a folder of the repository belongs in a gateway; `.` is the data directory itself. */
export type Placed = { source: string; destination: string }

type Options = {
  repository: string
  commit: string
  dataDir: string
  placed: readonly Placed[]
  /** Paths below the data directory that are never delivered or deleted. */
  ignored?: (file: string) => boolean
}

/** Differences as sentences; empty when every file is there, byte for byte, and nothing else. */
export function differences({ repository, commit, dataDir, placed, ignored = () => false }: Options): string[] {
  return placed.flatMap(({ source, destination }) => {
    const counts = (file: string): boolean => !ignored(path.posix.join(destination, file))
    const expected = new Map([...listCommit(repository, commit, source)].filter(([file]) => counts(file)))
    const present = new Set(listTree(path.join(dataDir, destination)).filter(counts))
    const missing = [...expected.keys()].filter((file) => !present.has(file)).map((file) => `${destination}/${file} is missing`)
    const extra = [...present].filter((file) => !expected.has(file)).map((file) => `${destination}/${file} should not be there`)
    const changed = [...expected]
      .filter(([file, id]) => present.has(file) && blobId(readFileSync(path.join(dataDir, destination, file))) !== id)
      .map(([file]) => `${destination}/${file} differs from git`)
    return [...missing, ...extra, ...changed]
  })
}

/** All files below a folder, by relative path; empty if the folder does not exist. */
export function listTree(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .toSorted()
}

/** Ids of the ordinary files that a commit holds below a folder, by path relative to it. */
function listCommit(repository: string, commit: string, folder: string): Map<string, string> {
  const output = execFileSync('git', ['-C', repository, 'ls-tree', '-r', '-z', '--full-tree', commit, `${folder}/`], {
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
  })
  const entries = output.toString('utf8').split('\0').filter(Boolean)
  return new Map(
    entries.flatMap((entry): [string, string][] => {
      const [, id, full] = /^100[0-7]+ blob ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? []
      return id === undefined || full === undefined ? [] : [[full.slice(folder.length + 1), id]]
    }),
  )
}

function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}
