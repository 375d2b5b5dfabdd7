/**
 * Webhook calls and what is read from each, as rows of a table.
 */
import t from 'tap'
import { readPayload } from '../../runtime/receiver/payload/payload.ts'

type Row = [name: string, headers: Record<string, string>, body: unknown, expected: object]

export const [before, after, zero] = ['b'.repeat(40), 'a'.repeat(40), '0'.repeat(40)]
export const move = { before, after }
export const push = (ref: string): object => ({ kind: 'ref', ref, event: 'push', move })
export const tagPush = (ref: string): object => ({ kind: 'ref', ref, event: 'tag-push', move })
export const release = (ref: string): object => ({ kind: 'ref', ref, event: 'release' })
export const ignored = (reason: 'Deletion' | 'Draft' | 'OtherAction' | 'OtherEvent' | 'UnusableRef'): object => ({
  kind: 'ignored',
  reason,
})
export const unrecognized = { kind: 'unrecognized' }
export const ping = { kind: 'ping' }

export function check(rows: readonly Row[]): void {
  for (const [name, headers, body, expected] of rows)
    void t.test(name, async (t) => t.strictSame(readPayload(headers, body), expected, JSON.stringify(body)))
}
