/**
 * Compares what a gateway's folder holds with what git holds, so that the quickstart proves what it claims.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Where a folder of the repository belongs in a gateway. */
export type Placed = { source: string; destination: string }

/** Differences as sentences; empty when every file is there, byte for byte, and nothing else. */
export function differences(repository: string, commit: string, dataDir: string, placed: readonly Placed[]): string[] {
  return placed.flatMap(({ source, destination }) => {
    const wanted = new Map(listCommit(repository, commit, source).map((file) => [file.slice(source.length + 1), file]))
    const present = new Set(listFolder(path.join(dataDir, destination)))
    const missing = [...wanted.keys()].filter((file) => !present.has(file)).map((file) => `${destination}/${file} is missing`)
    const extra = [...present].filter((file) => !wanted.has(file)).map((file) => `${destination}/${file} should not be there`)
    const changed = [...wanted]
      .filter(([file]) => present.has(file))
      .filter(([file, inGit]) => !readFileSync(path.join(dataDir, destination, file)).equals(git(repository, 'show', `${commit}:${inGit}`)))
      .map(([file]) => `${destination}/${file} differs from git`)
    return [...missing, ...extra, ...changed]
  })
}

function listCommit(repository: string, commit: string, folder: string): string[] {
  return git(repository, 'ls-tree', '-r', '-z', '--name-only', '--full-tree', commit, `${folder}/`)
    .toString('utf8')
    .split('\0')
    .filter(Boolean)
}

function listFolder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
}

function git(repository: string, ...args: string[]): Buffer {
  return execFileSync('git', ['-C', repository, ...args], {
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
  })
}
