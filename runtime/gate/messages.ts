/**
 * The messages between the process and the gate's thread.
 */
import type { GateRequest } from '../collections/gate/request.ts'
import type { GateMemory } from '../collections/gate/handover.ts'
import type { Reason } from '../fault.ts'
import type { Verdict } from '../gatewaysync/decide/observation.ts'
import type { Repository } from '../source/content/mirror-listing.ts'
import type { GitAsked } from '../source/git/relayed-git.ts'

/** `rest` asks for what the thread remembers, before it is ended. */
export type ToIsolate = { kind: 'check'; repository: Repository; request: GateRequest } | { kind: 'cancel' } | { kind: 'rest' }

/** `git`: the thread asks for a process of git. `fault`: reading the commit failed; `bug`: anything else was thrown. */
export type FromIsolate =
  | { kind: 'ready' }
  | { kind: 'git'; asked: GitAsked }
  | { kind: 'verdict'; verdict: Verdict }
  | { kind: 'rested'; memory: GateMemory }
  | { kind: 'fault'; reason: Reason; message: string }
  | { kind: 'bug'; message: string; stack: string }

/** Size of the shared buffer with the path of the file being read (two bytes of length, then UTF-8), which outlives the thread. */
export const judgedBytes = 2 + 1024

/** What a thread starts with. `memory`: what an earlier thread remembered. */
export type IsolateData = { judged: SharedArrayBuffer; memory: GateMemory | undefined }
