/**
 * Defines the requests to the content server, and encodes answers without content: changes as NDJSON with an end mark, so that a truncated
 * response is never mistaken for a complete one. Pure.
 */
import * as v from 'valibot'
import { Fault, type Reason, reasons } from '../../platform/fault.ts'
import { isCommitHash, isRelativePath } from '../../api/values.ts'
import { skipped, maxSkipped } from '../../api/schema/capture-spec.ts'
import {
  type BlobId,
  type CaptureAnswer,
  captureBounds,
  type Change,
  type FileMode,
  type GatewayAccess,
  maxPathCharacters,
} from './protocol.ts'
import { jsonOrUndefined } from '../../platform/text/json.ts'

const id = v.custom<BlobId>((value) => typeof value === 'string' && isCommitHash(value))

/** Most callers request only changes; a first sync requests everything, in requests of at most this many ids. */
export const maxIdsPerRequest = 25_000

/** The body of `changes`. `from` null: everything; agents of earlier releases send no `most`. A profile's name is a DNS label, hence 63. */
export const changesBody = v.object({
  commit: id,
  from: v.nullable(id),
  profile: v.pipe(v.string(), v.maxLength(63)),
  most: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
})
/** The body of `blobs`; the answer holds the blobs in the order of `ids`. */
export const blobsBody = v.object({
  commit: id,
  profile: v.pipe(v.string(), v.maxLength(63)),
  ids: v.pipe(v.array(id), v.maxLength(maxIdsPerRequest)),
})

const relativePath = v.pipe(v.string(), v.maxLength(4096), v.check(isRelativePath, 'is not a path below a folder'))
/** The body of `capture`. */
export const captureBody = v.object({
  commit: id,
  profile: v.pipe(v.string(), v.maxLength(63)),
  mode: v.pipe(v.string(), v.maxLength(255)),
  request: v.pipe(v.string(), v.maxLength(64)),
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  files: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(captureBounds.files)),
  skipped: v.pipe(v.array(skipped), v.maxLength(maxSkipped)),
  skippedFiles: v.pipe(v.number(), v.integer(), v.minValue(0)),
  changes: v.optional(
    v.pipe(
      v.array(
        v.object({
          source: relativePath,
          path: relativePath,
          op: v.picklist(['added', 'changed', 'removed']),
          exec: v.boolean(),
          content: v.optional(v.pipe(v.string(), v.maxLength(Math.ceil(captureBounds.fileBytes / 3) * 4), v.base64())),
        }),
      ),
      v.maxLength(captureBounds.files),
    ),
  ),
})

const captureAnswer = v.object({ answer: v.picklist(['send', 'later', 'done']) })

const gatewayAccess = v.object({ apiKey: v.optional(v.string()), caBundle: v.optional(v.string()) })

/** The body of `files`. */
export const filesBody = v.object({ commit: id, profile: v.pipe(v.string(), v.maxLength(63)) })

/** Encodes the lines of the answer to `changes`, one per change. */
export function encodeChanges(changes: readonly Change[]): string {
  let lines = ''
  // Only the path needs escaping, and a first sync has thousands of changes.
  for (const change of changes) {
    const path = JSON.stringify(change.path)
    lines +=
      change.op === 'delete'
        ? `{"op":"delete","path":${path}}\n`
        : `{"op":"put","path":${path},"mode":"${change.mode}","id":"${change.id}","size":${change.size}}\n`
  }
  return lines
}

/** Returns the last line of the answer to `changes`, without which it counts as truncated; `entries`: the lines before it. */
export function encodeEnd(entries: number): string {
  return `${JSON.stringify({ end: true, entries })}\n`
}

/** Enough for the longest path with every character escaped. */
const maxLineCharacters = 256 * 1024

/** Reads an answer to `changes` in chunks. Both throw DeliveryFailed: `take` for a damaged line, `finish` without the end mark. */
export function changesReader(): { take(text: string): Change[]; finish(): void } {
  let rest = ''
  let entries = 0
  let complete = false
  return {
    take(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > maxLineCharacters) throw new Fault('DeliveryFailed', 'a line of the response is longer than any change')
      const changes: Change[] = []
      for (const line of lines) {
        const value: unknown = jsonOrUndefined(line)
        const change = decodeChange(value)
        if (change !== undefined && !complete) {
          changes.push(change)
          entries += 1
          continue
        }
        if (complete || !isEnd(value, entries)) throw new Fault('DeliveryFailed', 'the response is damaged')
        complete = true
      }
      return changes
    },
    finish() {
      if (!complete) throw new Fault('DeliveryFailed', `the response ended early, after ${entries} entries`)
    },
  }
}

const modes: readonly unknown[] = ['100644', '100755', '120000', '160000'] satisfies FileMode[]

/** Whether git stores files with this mode. */
export function isFileMode(mode: unknown): mode is FileMode {
  return modes.includes(mode)
}

/** Checked by hand: for twenty thousand entries a schema takes longer than everything else. */
function decodeChange(value: unknown): Change | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { op, path, mode, id, size } = value as Record<string, unknown>
  // The path is joined to the data directory later, so a path that leads outside is invalid, regardless of its sender.
  if (typeof path !== 'string' || path.length > maxPathCharacters || !isRelativePath(path)) return undefined
  if (op === 'delete') return { op, path }
  if (op !== 'put' || typeof id !== 'string' || !isCommitHash(id) || !isFileMode(mode)) return undefined
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) return undefined
  return { op, path, mode, id, size }
}

function isEnd(value: unknown, entries: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { end, entries: count } = value as Record<string, unknown>
  return end === true && count === entries
}

/**
 * Returns the fault of an error answer. An answer that is not the controller's, for example a proxy's, is DeliveryUnauthorized (401, 403)
 * or DeliveryUnreachable.
 */
export function decodeProblem(status: number, body: string): Fault {
  const value = jsonOrUndefined(body)
  const { reason, detail } = typeof value === 'object' && value !== null ? (value as { reason?: unknown; detail?: unknown }) : {}
  const text = typeof detail === 'string' ? detail.slice(0, 500) : `the controller answered ${status}`
  if (typeof reason === 'string' && Object.hasOwn(reasons, reason)) return new Fault(reason as Reason, text)
  return new Fault(status === 401 || status === 403 ? 'DeliveryUnauthorized' : 'DeliveryUnreachable', text)
}

/** Throws DeliveryFailed for an answer of any other shape. No message repeats the text, which may hold a key. */
export function decodeGatewayAccess(text: string): GatewayAccess {
  const parsed = v.safeParse(gatewayAccess, jsonOrUndefined(text))
  if (!parsed.success) throw new Fault('DeliveryFailed', 'the response with the gateway access is not valid')
  const { apiKey, caBundle } = parsed.output
  return { ...(apiKey === undefined ? {} : { apiKey }), ...(caBundle === undefined ? {} : { caBundle }) }
}

/** Reads an answer to `capture`; throws DeliveryFailed. */
export function decodeCaptureAnswer(text: string): CaptureAnswer {
  const parsed = v.safeParse(captureAnswer, jsonOrUndefined(text))
  if (!parsed.success) throw new Fault('DeliveryFailed', 'the response to the capture offer is not valid')
  return parsed.output
}
