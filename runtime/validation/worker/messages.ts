/**
 * The messages between the process and the validation thread.
 */
import type { ValidationMemory } from '../run/snapshot.ts'
import type { Reason } from '../../platform/fault.ts'
import type { Verdict } from '../../reconcile/decide/observation.ts'
import type { Repository } from '../../git/content/mirror-listing.ts'
import type { GitRequest } from '../../git/command/relayed-git.ts'
import type { ValidationRequest } from '../run/coverage.ts'

/** `rest` requests the thread's state, before it is ended. */
export type ToWorker = { kind: 'validate'; repository: Repository; request: ValidationRequest } | { kind: 'cancel' } | { kind: 'rest' }

/** `git`: the thread requests a git process. `fault`: reading the commit failed; `bug`: anything else was thrown. */
export type FromWorker =
  | { kind: 'ready' }
  | { kind: 'git'; request: GitRequest }
  | { kind: 'verdict'; verdict: Verdict }
  | { kind: 'rested'; memory: ValidationMemory }
  | { kind: 'fault'; reason: Reason; message: string }
  | { kind: 'bug'; message: string; stack: string }

/** Size of the shared buffer with the path of the file being read (two bytes of length, then UTF-8), which outlives the thread. */
export const currentPathBytes = 2 + 1024

/** The start data of a thread. `memory`: the state of an earlier thread. */
export type WorkerStart = { currentPath: SharedArrayBuffer; memory: ValidationMemory | undefined }
