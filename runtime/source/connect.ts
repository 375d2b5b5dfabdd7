/**
 * What one call of git needs to reach its host: settings and an environment for this process alone, given back when it has ended.
 */
import type { GitRun } from './git.ts'
import type { Remote } from './remote.ts'

export type Connection = AsyncDisposable & { forGit: Pick<GitRun, 'settings' | 'environment'> }

/** Prepares one call. Throws GitUnauthorised for a kind of credentials that its host cannot be given. */
export async function connect({ access }: Remote, signal: AbortSignal): Promise<Connection> {
  signal.throwIfAborted()
  if (access.credentials.kind !== 'none') throw new Error(`credentials of kind ${access.credentials.kind} are not prepared here`)
  return { forGit: {}, [Symbol.asyncDispose]: async () => undefined }
}
