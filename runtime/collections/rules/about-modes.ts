/**
 * Checks of what deployment modes hold beside each other. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import { isUserMode } from '../model/inheritance.ts'
import { modesOf } from './about-references.ts'
import { type Found, inRoot, type TreeFacts, typeOf } from './input.ts'
import { viewsOf } from './overview.ts'

/** What others name, or a plant counts on. Devices, images, API tokens and types of other modules belong to single gateways as often as not. */
const neededTypes: ReadonlySet<string> = new Set([
  ...[
    'alarm-journal',
    'audit-profile',
    'database-connection',
    'email-profile',
    'identity-provider',
    'opc-connection',
    'roster-config',
    'schedule',
    'secret-provider',
    'tag-provider',
    'user-source',
  ].map((type) => `ignition/${type}`),
  'com.inductiveautomation.alarm-notification/alarm-notification-profile',
  'com.inductiveautomation.historian/historian-provider',
])

export function* missingInMode(facts: TreeFacts): Generator<Found> {
  const { family, coreDelivered, isFragment } = facts
  // A mode that was only just made holds nothing yet.
  const views = viewsOf({ family, modesInUse: undefined }).filter(({ chain }) =>
    chain.some((name) => isUserMode(name) && holdsAny(facts, name)),
  )
  if (views.length < 2 || !coreDelivered || isFragment) return
  for (const [key, holders] of keysOnlyInModes(facts)) {
    const without = views.filter(({ chain }) => !chain.some((name) => holders.has(name)))
    const [first] = holders.values()
    if (first === undefined || without.length === 0 || without.length === views.length) continue
    const [collection, folder] = first
    const message = `${key} is neither in core nor in ${modesOf(without)}, whose gateways do without it`
    yield { path: inRoot(facts, folder), collection, message }
  }
}

function holdsAny({ family }: TreeFacts, folded: string): boolean {
  return (family.byName.get(folded)?.collection.resources.length ?? 0) > 0
}

type Holders = ReadonlyMap<string, readonly [collection: string, folder: string]>

/** The resources of deployment modes that neither core nor external has, each with the modes that hold it. */
function keysOnlyInModes({ tree, family }: TreeFacts): Map<string, Holders> {
  const holders = new Map<string, Map<string, readonly [string, string]>>()
  for (const { name, resources, manifest } of tree.collections) {
    if (!isUserMode(name) || manifest === undefined) continue
    for (const resource of resources) {
      if (resource.kind !== 'named' || !neededTypes.has(typeOf(resource))) continue
      const key = foldName(resource.key)
      holders.set(key, (holders.get(key) ?? new Map()).set(foldName(name), [name, resource.folder]))
    }
  }
  for (const base of ['external', 'core']) {
    if (holders.size === 0) break
    for (const { key } of family.byName.get(base)?.collection.resources ?? []) holders.delete(foldName(key))
  }
  return holders
}
