/**
 * Reads an AdmissionReview and writes its answer. Pure, and total on any JSON value.
 */
import * as v from 'valibot'
import type { JsonPatch } from './json-patch.ts'
import { type Pod, pod } from './pod.ts'

const admission = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } as const

const review = v.looseObject({
  apiVersion: v.literal(admission.apiVersion),
  kind: v.literal(admission.kind),
  request: v.looseObject({
    uid: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
    namespace: v.optional(v.pipe(v.string(), v.maxLength(253)), ''),
    object: v.unknown(),
  }),
})

/** `uid` is the request's, which the answer must repeat. */
export type ReviewRequest =
  | { kind: 'pod'; uid: string; namespace: string; pod: Pod }
  /** A review whose object is not a pod that we understand; it is answered with a warning. */
  | { kind: 'other'; uid: string; why: string }
  /** Not a review, so there is nothing to answer. */
  | { kind: 'malformed'; why: string }

/** Reads an AdmissionReview. Never throws. */
export function parseReview(document: unknown): ReviewRequest {
  const parsed = v.safeParse(review, document)
  if (!parsed.success) return { kind: 'malformed', why: message(parsed.issues[0]) }
  const { uid, namespace, object } = parsed.output.request
  const inside = v.safeParse(pod, object)
  if (!inside.success) return { kind: 'other', uid, why: `the object is not a pod as expected: ${message(inside.issues[0])}` }
  return { kind: 'pod', uid, namespace, pod: inside.output }
}

/** Kubernetes shows at most 256 characters of a warning, and a line break would end the header that carries it. */
const maxWarning = 256

/** The answer, always `allowed`: we never refuse a gateway that could run. */
export function answer(uid: string, operations: readonly JsonPatch[], warnings: readonly string[]): object {
  const patch = operations.length === 0 ? {} : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') }
  const shown = warnings.map((warning) => `cluster-sync: ${warning}`.replace(/[^\x20-\x7e]/g, '?').slice(0, maxWarning))
  return { ...admission, response: { uid, allowed: true, ...patch, ...(shown.length === 0 ? {} : { warnings: shown }) } }
}

function message(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue) ?? 'document'}: ${issue.message}`.slice(0, 200)
}
