/**
 * The conditions that must hold after the chaos, as a function of the observations.
 */
import type { WatchFigures } from './figures.ts'

export type Observed = {
  /** Faults, pushes and metrics that failed. */
  broken: readonly string[]
  /** The number of times each fault happened, for all faults. */
  faults: Readonly<Record<string, number>>
  followedMs: FollowedMs
  /** The reasons for interruptions of the soak's own watches. */
  interrupted: Readonly<Record<string, number>>
  /** The number of lists of the soak's own watches, and of versions that they received between lists. */
  watched: { lists: number; versions: number }
  /** Missing versions of the soak's own watches, or doubts about the recorded history. */
  missed: readonly string[]
  /** The watch metrics of each replica before it was killed, and at the end. */
  readings: readonly Reading[]
  /** Each accepted request with its GatewaySync, and those with an outcome. */
  taken: ReadonlyMap<string, string>
  outcomes: ReadonlyMap<string, string>
  /** The differences between each gateway and git. */
  gateways: readonly { name: string; wrong: readonly string[] }[]
}

/** The times until another replica led, after a killed and after a frozen leader. */
export type FollowedMs = { killed: readonly number[]; frozen: readonly number[] }

export type Reading = { replica: string; when: string; figures: WatchFigures }

/** The median of the times until another replica leads must be below this: waiting for the Lease alone would take more than 15 s. */
const followedWithinMs = { killed: 3_000, frozen: 12_000 }
/** Status 410 and closed connections: without both, the watches were hardly exercised. */
const neededInterruptions = ['Conflict', 'ApiUnavailable']

/** Empty if everything held. */
export function violationsOf(observed: Observed): string[] {
  const { broken, faults, followedMs, interrupted, missed, readings, taken, outcomes, gateways, watched } = observed
  const lost = [...taken].filter(([id]) => !outcomes.has(id)).map(([id, key]) => `${id} of ${key}`)
  const refused = [...taken].filter(([id]) => outcomes.get(id) === 'Refused').map(([id, key]) => `${id} of ${key}`)
  return [
    ...broken,
    ...summary(
      'faults did not happen',
      Object.keys(faults).filter((name) => (faults[name] ?? 0) === 0),
    ),
    ...neededInterruptions.filter((reason) => (interrupted[reason] ?? 0) === 0).map((reason) => `no watch was interrupted by ${reason}`),
    ...(watched.versions > 0 ? [] : ['the own watches told no version between their lists']),
    ...(taken.size > 0 ? [] : ['no request was taken']),
    ...(['killed', 'frozen'] as const)
      .map((how) => ({ how, lateMs: median(followedMs[how]) }))
      .filter(({ how, lateMs }) => lateMs >= followedWithinMs[how])
      .map(({ how, lateMs }) => `half of the leaders that were ${how} were followed after ${Math.round(lateMs)} ms or later`),
    ...summary('times a watch missed something', missed),
    ...(readings.length > 0 ? [] : ['no replica told the figures of its watches']),
    ...summary('times lists of replicas found changes that a watch missed', readings.flatMap(differencesOf)),
    ...summary('requests have no outcome', lost),
    ...summary('requests were refused', refused),
    ...summary(
      'gateways are not exact',
      gateways.filter(({ wrong }) => wrong.length > 0).map(({ name, wrong }) => `${name}: ${wrong.slice(0, 3).join(', ')}`),
    ),
  ]
}

function differencesOf({ replica, when, figures }: Reading): string[] {
  return Object.entries(figures)
    .filter(([, { differences }]) => differences !== 0)
    .map(([kind, { differences }]) => `${replica} ${when}: ${differences} of ${kind}`)
}

/** Surplus, missing and different files; both sides by path, with the hash of each file. */
export function differencesOfFiles(held: ReadonlyMap<string, string> | undefined, desired: ReadonlyMap<string, string>): string[] {
  const paths = [...new Set([...(held?.keys() ?? []), ...desired.keys()])]
  return paths
    .filter((path) => held?.get(path) !== desired.get(path))
    .map((path) => `${path} is ${held?.get(path) ?? 'missing'}, should be ${desired.get(path) ?? 'gone'}`)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function summary(what: string, list: readonly string[]): string[] {
  return list.length === 0 ? [] : [`${list.length} ${what}: ${list.slice(0, 10).join('; ')}`]
}
