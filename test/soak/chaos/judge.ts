/**
 * What must hold after the chaos, as a function of what was seen in it.
 */
import type { WatchFigures } from './figures.ts'

export type Observed = {
  /** What could not be done or read: faults, pushes, figures. */
  broken: readonly string[]
  /** How often each fault happened; all that there are. */
  faults: Readonly<Record<string, number>>
  followedMs: FollowedMs
  /** Which reasons the soak's own watches were interrupted for. */
  interrupted: Readonly<Record<string, number>>
  /** How often the soak's own watches listed, and how many versions they told between their lists. */
  watched: { lists: number; versions: number }
  /** Versions that a watch of the soak's own owes, or doubts about what happened. */
  missed: readonly string[]
  /** What each replica said of its own watches before it was killed, and in the end. */
  readings: readonly Reading[]
  /** Each request that was taken, with the GatewaySync that it was for; and those that had an outcome, with that. */
  taken: ReadonlyMap<string, string>
  outcomes: ReadonlyMap<string, string>
  /** What each gateway holds other than git says. */
  gateways: readonly { name: string; wrong: readonly string[] }[]
}

/** How long it took each time until another replica led, after one that was killed and one that was frozen. */
export type FollowedMs = { killed: readonly number[]; frozen: readonly number[] }

export type Reading = { replica: string; when: string; figures: WatchFigures }

/** Of the times until another replica leads, the median must be below this: by waiting for the Lease alone it would be above 15 s. */
const followedWithinMs = { killed: 3_000, frozen: 12_000 }
/** By 410 and by connections that end: without both of them the watches were hardly tried. */
const neededInterruptions = ['Conflict', 'ApiUnavailable']

/** Empty when everything held. */
export function judge(observed: Observed): string[] {
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
    ...summary('times lists of replicas found what no watch had told', readings.flatMap(differencesOf)),
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

/** What files are there that should not be, are not there, or hold other than they should; both by path, with the hash of each. */
export function differencesOfFiles(held: ReadonlyMap<string, string> | undefined, wanted: ReadonlyMap<string, string>): string[] {
  const paths = [...new Set([...(held?.keys() ?? []), ...wanted.keys()])]
  return paths
    .filter((path) => held?.get(path) !== wanted.get(path))
    .map((path) => `${path} is ${held?.get(path) ?? 'missing'}, should be ${wanted.get(path) ?? 'gone'}`)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function summary(what: string, list: readonly string[]): string[] {
  return list.length === 0 ? [] : [`${list.length} ${what}: ${list.slice(0, 10).join('; ')}`]
}
