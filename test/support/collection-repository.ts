/**
 * Repositories with collections, for tests of commands that work on them.
 */
import path from 'node:path'
import type { Test } from 'tap'
import { config, type Files, resource, validTree } from './collection-tree.ts'
import { makeRepository, type Repository, temporaryFolder } from './repository.ts'

/** A repository with one commit, removed with the test. */
export function repositoryOf(t: Test, files: Files): Repository {
  const repository = makeRepository(path.join(temporaryFolder(t, 'cli'), 'repository'))
  repository.commit(files)
  return repository
}

/** The valid tree with additional files. */
export const withFiles = (...added: Files[]): Files => Object.assign(validTree(), ...added) as Files
/** Has an error: a singleton that only one mode has. */
export const broken = withFiles(resource('dev/ignition/cobranding', config({})))
