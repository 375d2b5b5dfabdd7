/**
 * Assigns gateways to stages, and converts a number or percentage into an amount. Pure.
 */
import { createMatcher } from '../../api/glob/glob.ts'
import type { Stage } from '../../api/schema/spec.ts'

/** The properties of a gateway that select its stage. */
export type StagedGateway = { pod: string; name: string; labels: Readonly<Record<string, string>> }

/** Returns the gateways of each stage, in stage order: each belongs to the first stage that selects it, sorted by pod. */
export function membersOf<Gateway extends StagedGateway>(stages: readonly Stage[], gateways: readonly Gateway[]): Gateway[][] {
  const members = stages.map((): Gateway[] => [])
  const choosers = stages.map(chooserOf)
  for (const gateway of gateways.toSorted((a, b) => (a.pod < b.pod ? -1 : 1))) {
    const index = choosers.findIndex((chooses) => chooses(gateway))
    members[index]?.push(gateway)
  }
  return members
}

function chooserOf({ selector }: Stage): (gateway: StagedGateway) => boolean {
  if (selector === undefined) return () => true
  const isNamed = selector.names === undefined ? () => true : createMatcher(selector.names, 'ref')
  const required = Object.entries(selector.matchLabels ?? {})
  return ({ name, labels }) => isNamed(name) && required.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
}

/** Converts an amount to a number of gateways, at least one; percentages are rounded down for concurrency limits. */
export function amountOf(amount: number | string, gateways: number, round: (value: number) => number): number {
  const count = typeof amount === 'number' ? amount : round((Number(amount.slice(0, -1)) * gateways) / 100)
  return Math.max(1, count)
}

/** `held` gateways of a stage, as the rest of a sentence that begins with its name. */
export function heldText(held: number): string {
  const who = held === 1 ? '1 gateway waits until its' : `${held} gateways wait until their`
  return `${who} local changes are captured or discarded`
}
