/**
 * Which stage a gateway belongs to, and how much of one a number or a percentage means. Pure.
 */
import { createMatcher } from '../glob.ts'
import type { Stage } from '../schema/spec.ts'

/** What of a gateway decides about its stage. */
export type StagedGateway = { pod: string; name: string; labels: Readonly<Record<string, string>> }

/** The gateways of each stage, in the order of the stages: each belongs to the first that chooses it, sorted by pod. */
export function membersOf<Gateway extends StagedGateway>(stages: readonly Stage[], gateways: readonly Gateway[]): Gateway[][] {
  const members = stages.map((): Gateway[] => [])
  const choosers = stages.map(chooserOf)
  for (const gateway of gateways.toSorted((a, b) => (a.pod < b.pod ? -1 : 1))) {
    const index = choosers.findIndex((chooses) => chooses(gateway))
    members[index]?.push(gateway)
  }
  return members
}

function chooserOf({ gateways }: Stage): (gateway: StagedGateway) => boolean {
  if (gateways === undefined) return () => true
  const isNamed = gateways.names === undefined ? () => true : createMatcher(gateways.names, 'ref')
  const wanted = Object.entries(gateways.labels?.matchLabels ?? {})
  return ({ name, labels }) => isNamed(name) && wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
}

/** How many gateways of a stage an amount means, at least one: a percentage is rounded down for what may be done at once. */
export function amountOf(amount: number | string, gateways: number, round: (value: number) => number): number {
  const count = typeof amount === 'number' ? amount : round((Number(amount.slice(0, -1)) * gateways) / 100)
  return Math.max(1, count)
}
