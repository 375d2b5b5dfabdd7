/**
 * The agent's side of a capture in a cluster: finds what was changed on its gateway, and uploads it once the controller accepts. Reads
 * nothing without a request or `trigger: Drift` in the spec, and writes nothing to the data directory.
 */
import path from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { captureBounds, type CaptureAnswer, type CaptureOffer, type Source } from '../../content/protocol/protocol.ts'
import { type RequestIdentity, driftRequest, isSameRequest } from '../../reconcile/decide/capture.ts'
import { maxSkipped } from '../../api/schema/capture-spec.ts'
import { printable } from '../../api/values.ts'
import { entryMetadata } from '../../sync/disk/disk.ts'
import { readManifest } from '../../sync/disk/manifest-file.ts'
import type { SyncTarget } from '../../sync/model/desired.ts'
import { captureChanges } from '../detect/edits.ts'
import { changesInPlace } from '../detect/local-changes.ts'
import { digestOf } from './commit.ts'

/** Answers one request: `again` until the controller reports it complete. Throws what reading and `send` throw. */
export type UploadChanges = (
  source: Source,
  target: SyncTarget,
  request: RequestIdentity,
  send: Send,
  signal: AbortSignal,
) => Promise<'done' | 'again'>

/** The difference from the commit that the last sync found: how many files, and the first of them. */
export type Drift = { count: number; paths: readonly string[] }

/**
 * Uploads changes that were stable for `quietMs`, once, without a request; `drift` undefined: there is none. Returns in how many ms to call
 * again, undefined: when there is drift. Throws what reading and `send` throw.
 */
export type UploadQuietChanges = (
  source: Source,
  target: SyncTarget,
  quiet: { quietMs: number; subject: string; drift: Drift | undefined },
  send: Send,
  signal: AbortSignal,
) => Promise<number | undefined>

type Send = (offer: CaptureOffer) => Promise<CaptureAnswer>

const maxPath = 1024
const maxMessage = 256

/** Keeps the completed request, and the changes found for an open one. */
export function createCaptureUpload(): UploadChanges {
  let of: RequestIdentity | undefined
  let isOver = false
  let found: CaptureOffer | undefined
  return async (source, target, request, send, signal) => {
    if (of === undefined || !isSameRequest(of, request)) {
      found = undefined
      isOver = false
    }
    of = request
    if (isOver) return 'done'
    found ??= await findOffer(source, target, () => request.request, signal)
    if (found === undefined || !(await sendOffer(found, send))) return 'again'
    isOver = true
    found = undefined
    return 'done'
  }
}

const retryMs = 5_000

/**
 * Keeps the last check for one GatewaySync and repository (`subject`); after a restart the changes must become stable again, and the
 * controller tracks which ones it has.
 */
export function createQuietUpload({ clock }: { clock: Pick<Clock, 'monotonicMs'> }): UploadQuietChanges {
  let watched: Watched | undefined
  let found: CaptureOffer | undefined
  let of = ''
  return async (source, target, { quietMs, subject, drift }, send, signal) => {
    if (drift === undefined || subject !== of) watched = found = undefined
    of = subject
    if (drift === undefined) return undefined
    // Changes found before a sync cannot be committed on top of the new commit.
    if (found !== undefined && found.commit !== readManifest(target.dataDir).state?.commit) watched = found = undefined
    if (found === undefined) {
      const outside = visibleMetadata(target, drift)
      const nowMs = clock.monotonicMs()
      const dueMs = nextCheckMs(watched, outside, quietMs)
      if (nowMs < dueMs) return dueMs - nowMs
      const seen = await findOffer(source, target, driftRequest, signal)
      if (seen === undefined) return quietMs / 2
      const looked = afterCheck(watched, { digest: seen.digest, isNothing: seen.files === 0, outside }, nowMs, quietMs)
      watched = looked.watched
      if (!looked.isQuiet) return nextCheckMs(watched, outside, quietMs) - nowMs
      found = seen
    }
    if (!(await sendOffer(found, send))) return retryMs
    found = undefined
    if (watched !== undefined) watched = { ...watched, isOver: true }
    return quietMs / 2
  }
}

/** What is visible of changed files without reading them or requesting the commit. */
function visibleMetadata({ dataDir, commit }: SyncTarget, { count, paths }: Drift): string {
  const stats = paths.map((each) => [each, entryMetadata(path.join(dataDir, each))])
  return JSON.stringify([commit, count, stats])
}

/** Returns whether the controller reports it complete. */
async function sendOffer({ changes, ...short }: CaptureOffer, send: Send): Promise<boolean> {
  let { answer } = await send(short)
  if (answer === 'send') ({ answer } = await send({ ...short, changes }))
  return answer === 'done'
}

/** The changes since the commit in place; undefined while the folder is between two commits, or has none. */
async function findOffer(
  source: Source,
  target: SyncTarget,
  requestOf: (digest: string) => string,
  signal: AbortSignal,
): Promise<CaptureOffer | undefined> {
  const seen = await changesInPlace(source, target, signal)
  if (seen === undefined) return undefined
  const { at, found } = seen
  const { captured, skipped } = captureChanges(found, at, () => false, captureBounds)
  const digest = digestOf(captured)
  return {
    commit: at.commit,
    profile: target.profile.name,
    mode: at.facts.mode?.name ?? '',
    request: requestOf(digest),
    digest,
    files: captured.length,
    skipped: skipped
      .slice(0, maxSkipped)
      .map(({ path, message }) => ({ path: printable(path, maxPath), message: message.slice(0, maxMessage) })),
    skippedFiles: skipped.length,
    changes: captured.map(({ source, path, op, exec, content }) => ({
      source,
      path,
      op,
      exec,
      ...(content === undefined ? {} : { content: Buffer.from(content).toString('base64') }),
    })),
  }
}

/**
 * The result of the last check. With `trigger: Drift`, changes are captured once their digest is the same at two checks that are `quietMs` apart.
 * A check reads the files and requests the commit, so it runs at most twice in that time. All times are monotonic, in milliseconds.
 */
export type Watched = {
  digest: string
  /** What is visible of the changes without a check. */
  outside: string
  /** Since when the digest is the same. */
  sinceMs: number
  checkedMs: number
  /** Whether there is nothing (more) to capture. */
  isOver: boolean
}

/** Changes that are visible only in a check, such as a new file, are found after this long even if the previous changes are captured. */
const restMs = 3_600_000

/** When the next check is due; `outside` is what is visible without one. */
export function nextCheckMs(watched: Watched | undefined, outside: string, quietMs: number): number {
  if (watched === undefined) return 0
  const { sinceMs, checkedMs, isOver } = watched
  const soonestMs = checkedMs + quietMs / 2
  if (watched.outside !== outside) return soonestMs
  return Math.max(soonestMs, isOver ? checkedMs + restMs : sinceMs + quietMs)
}

/** Returns the state after a check at `nowMs`, and whether the changes are to be captured. `isNothing`: none can be. */
export function afterCheck(
  before: Watched | undefined,
  { digest, outside, isNothing }: { digest: string; outside: string; isNothing: boolean },
  nowMs: number,
  quietMs: number,
): { watched: Watched; isQuiet: boolean } {
  const same = before?.digest === digest ? before : { sinceMs: nowMs, isOver: isNothing }
  const { sinceMs, isOver } = same
  return { watched: { digest, outside, sinceMs, checkedMs: nowMs, isOver }, isQuiet: !isOver && nowMs - sinceMs >= quietMs }
}
