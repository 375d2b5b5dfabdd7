/**
 * Random pushes and faults, until the time is over and each fault has happened.
 */
import { systemClock } from '../../../runtime/platform/clock.ts'
import { pick, type Random, randomFrom } from '../../support/seeded-random.ts'
import { faults, rounds } from './faults.ts'
import { change, type Followed, keyOf } from './plants.ts'
import type { Soak } from './soak.ts'

const pushEveryMs = 400
const faultEveryMs = 6_000
const answeredWithinMs = 30_000
const toldAgainMs = 250
/** The retries of a failed push stop after minutes. */
const maxTries = 600

/** `broken`: faults and pushes that failed. `faults`: the number of times each fault happened, for all faults. */
export type Meddled = { faults: Record<string, number>; pushes: number; toldAgain: number; broken: string[] }

/** Resolves when each fault has ended and each push was accepted. */
export async function meddle(soak: Soak, { minutes, seed }: { minutes: number; seed: number }): Promise<Meddled> {
  const names = Object.keys(faults)
  const meddled: Meddled = { faults: Object.fromEntries(names.map((name) => [name, 0])), pushes: 0, toldAgain: 0, broken: [] }
  const startedMs = systemClock.monotonicMs()
  const isOver = (): boolean => systemClock.monotonicMs() - startedMs > minutes * 60_000 && Object.values(meddled.faults).every(Boolean)
  const orTell = async (what: string, work: () => Promise<void> | void): Promise<void> => {
    try {
      await work()
    } catch (error) {
      meddled.broken.push(`${what}: ${String(error)}`)
    }
  }
  const causing = async (): Promise<void> => {
    const random = randomFrom(seed, 'faults')
    for (const name of rounds(names, random)) {
      if (isOver()) return
      process.stdout.write(`${Math.round((systemClock.monotonicMs() - startedMs) / 1000)} s: ${name}\n`)
      await orTell(name, () => faults[name]?.(soak))
      meddled.faults[name] = (meddled.faults[name] ?? 0) + 1
      await systemClock.wait(faultEveryMs * (0.5 + random()))
    }
  }
  const pushing = async (): Promise<void> => {
    const random = randomFrom(seed, 'pushes')
    const busy = new Map<Followed, Promise<void>>()
    for (let round = 1; !isOver(); round += 1) {
      await systemClock.wait(pushEveryMs * (0.5 + random()))
      const plant = pick(soak.plants, random)
      if (plant === undefined || busy.has(plant)) continue
      plant.head = change(plant, round)
      meddled.pushes += 1
      const work = orTell('a push', () => push(soak, plant, random, () => (meddled.toldAgain += 1)))
      busy.set(
        plant,
        work.finally(() => busy.delete(plant)),
      )
    }
    await Promise.all(busy.values())
  }
  await Promise.all([causing(), pushing()])
  return meddled
}

/** Sends the push to one replica and, if it is not accepted, to the next one, like a git host or a user would. */
async function push({ replicas, cluster, taken }: Soak, plant: Followed, random: Random, again: () => void): Promise<void> {
  const headers = { authorization: `Bearer ${cluster.receiver.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ ref: `refs/heads/${plant.branch}` })
  const first = Math.floor(random() * replicas.receivers.length)
  for (let attempt = 0; ; attempt += 1) {
    const url = replicas.receivers[(first + attempt) % replicas.receivers.length] ?? ''
    try {
      const signal = AbortSignal.timeout(answeredWithinMs)
      const answer = await fetch(`${url}/webhook/${plant.namespace}/${plant.name}`, { method: 'POST', headers, body, signal })
      const { requestId } = (await answer.json()) as { requestId?: string }
      if (answer.status === 202 && requestId !== undefined) {
        taken.set(requestId, keyOf(plant))
        return
      }
      if (answer.status < 429) throw new Error(`${keyOf(plant)}: the push was answered with ${answer.status}`)
    } catch (error) {
      if (attempt > maxTries || (error instanceof Error && error.message.includes('was answered'))) throw error
    }
    again()
    await systemClock.wait(toldAgainMs)
  }
}
