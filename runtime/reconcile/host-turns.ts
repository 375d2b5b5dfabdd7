/**
 * Who reads from which git host next, for people who look: one at a time of each host, few in all, and not many waiting, so that slow
 * hosts, as long as they are fewer than may be read at once, keep nobody from what another one has, and none of them takes what agents wait for.
 */
import { Fault } from '../fault.ts'
import { createShares } from '../http/shares.ts'
import { readRepository } from '../source/remote/remote.ts'

/** `atOnce`: of all hosts together; `waitMs`: how long somebody waits for their turn. */
type Settings = { atOnce: number; waitMs: number }

/** What is read: `kind` of reading, of which `most` may be under way or waiting at one host; `repo` as the spec names it. */
type Reading = { kind: string; most: number; repo: string }

/** Returns what does `work` in its turn. Throws TooManyRequests where too many wait or the turn does not come in time, and what `work` throws. */
export function createHostTurns({ atOnce, waitMs }: Settings) {
  const { take } = createShares({ total: atOnce, ofOne: 1, waitMs })
  const lines = new Map<string, number>()
  return async <Value>({ kind, most, repo }: Reading, work: () => Promise<Value>): Promise<Value> => {
    const host = readRepository(repo, { allowLocal: true })?.host ?? ''
    const line = `${kind} ${host}`
    const before = lines.get(line) ?? 0
    if (before >= most) throw tooMany()
    lines.set(line, before + 1)
    try {
      const done = await take(1, host)
      if (done === undefined) throw tooMany()
      try {
        return await work()
      } finally {
        done()
      }
    } finally {
      const left = (lines.get(line) ?? 1) - 1
      if (left === 0) lines.delete(line)
      else lines.set(line, left)
    }
  }
}

function tooMany(): Fault {
  return new Fault('TooManyRequests', 'others are reading from this git host; look again in a moment')
}
