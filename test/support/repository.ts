/**
 * A real git repository in its own folder, for tests that need commits and no host.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Test } from 'tap'

/** Content by path; null deletes. */
export type Changes = Readonly<Record<string, string | null>>

export type Repository = {
  /** The work tree, which is also the local URL of the repository. */
  folder: string
  /** Writes, commits and returns the commit's hash. */
  commit(changes: Changes, message?: string): string
  git(...args: string[]): Buffer
}

/** Excludes the configuration of this machine. */
export const gitEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Plant',
  GIT_AUTHOR_EMAIL: 'plant@example.com',
  GIT_COMMITTER_NAME: 'Plant',
  GIT_COMMITTER_EMAIL: 'plant@example.com',
}

/** A temporary folder, in memory if possible, outside every repository, removed with the test. */
export function temporaryFolder(t: Pick<Test, 'teardown'>, name: string): string {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir()
  const folder = mkdtempSync(path.join(parent, `cluster-sync-${name}-`))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function makeRepository(folder: string, objectFormat: 'sha1' | 'sha256' = 'sha1'): Repository {
  mkdirSync(folder, { recursive: true })
  const git = (...args: string[]): Buffer =>
    execFileSync('git', ['-C', folder, ...args], { env: gitEnvironment, maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'pipe'] })
  git('init', '-q', '-b', 'main', `--object-format=${objectFormat}`)
  // Prevents background processes during a test.
  git('config', 'gc.auto', '0')
  return {
    folder,
    git,
    commit(changes, message = 'Change') {
      for (const [name, content] of Object.entries(changes)) {
        const file = path.join(folder, name)
        if (content === null) {
          rmSync(file)
          continue
        }
        mkdirSync(path.dirname(file), { recursive: true })
        writeFileSync(file, content)
      }
      git('add', '-A')
      git('commit', '-q', '--allow-empty', '-m', message)
      return git('rev-parse', 'HEAD').toString('utf8').trim()
    },
  }
}

/** Commits each set of changes without a work tree, for large commits; returns their hashes. The repository must be empty. */
export function importCommits({ folder, git }: Repository, commits: readonly Changes[]): string[] {
  const stream = commits.flatMap((changes) => [
    'commit refs/heads/main\ncommitter Plant <plant@example.com> 1768464000 +0000\ndata 0\n',
    ...Object.entries(changes).map(([name, content]) =>
      content === null ? `D ${name}\n` : `M 100644 inline ${name}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
    ),
  ])
  execFileSync('git', ['-C', folder, 'fast-import', '--quiet'], { env: gitEnvironment, input: stream.join('') })
  return git('rev-list', '--reverse', 'main').toString('utf8').split('\n').filter(Boolean)
}

/** A repository with the history of a bundle file. */
export function cloneBundle(bundle: string, folder: string): Repository {
  execFileSync('git', ['clone', '-q', bundle, folder], { env: gitEnvironment, stdio: ['ignore', 'pipe', 'pipe'] })
  return makeRepository(folder)
}

/** Every commit of the checked-out branch, oldest first. */
export function commitsOf(repository: Repository): string[] {
  return repository.git('rev-list', '--reverse', '--first-parent', 'HEAD').toString('utf8').split('\n').filter(Boolean)
}
