/**
 * Repositories that hold collections, for tests of the commands that work on them.
 */
import path from 'node:path'
import type { Test } from 'tap'
import { config, type Files, resource, validTree } from './collection-tree.ts'
import { makeRepository, type Repository, temporaryFolder } from './repository.ts'

/** A repository with one commit. It goes with the test. */
export function repositoryOf(t: Test, files: Files): Repository {
  const repository = makeRepository(path.join(temporaryFolder(t, 'cli'), 'repository'))
  repository.commit(files)
  return repository
}

/** The valid tree, and what else there is. */
export const withFiles = (...added: Files[]): Files => Object.assign(validTree(), ...added) as Files
/** Has an error: a singleton that only a mode has. */
export const broken = withFiles(resource('dev/ignition/cobranding', config({})))
