/**
 * What the process and the isolate of the gate say to each other.
 */
import type { GateRequest } from '../collections/gate/gate.ts'
import type { GateMemory } from '../collections/gate/handover.ts'
import type { Reason } from '../fault.ts'
import type { Verdict } from '../gatewaysync/decide/decide.ts'
import type { Repository } from '../source/content/mirror-listing.ts'

/** `rest` asks for what the thread remembers; it is told to end then. */
export type ToIsolate = { kind: 'check'; repository: Repository; request: GateRequest } | { kind: 'cancel' } | { kind: 'rest' }

/** `fault` is what reading the commit met; `bug` is anything else that was thrown. */
export type FromIsolate =
  | { kind: 'ready' }
  | { kind: 'verdict'; verdict: Verdict }
  | { kind: 'rested'; memory: GateMemory }
  | { kind: 'fault'; reason: Reason; message: string }
  | { kind: 'bug'; message: string; stack: string }

/** The path of the file that is read now, as a length of two bytes and UTF-8: it is still there when the isolate is not. */
export const judgedBytes = 2 + 1024

/** `memory`: what an earlier thread handed over. */
export type IsolateData = { judged: SharedArrayBuffer; memory: GateMemory | undefined }
