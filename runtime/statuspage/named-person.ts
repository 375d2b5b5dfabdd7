/**
 * A person by the name and the groups that a login gives: as role bindings name them, and never a part of the cluster. Pure.
 */
import type { Person } from './people.ts'

export type NamedGroups = readonly string[]

const maxNameLength = 256
const maxGroups = 100
/** Names of Kubernetes itself: no login outside of it may give somebody the rights of a part of the cluster. */
const reserved = 'system:'
const everybody = 'system:authenticated'

/** Undefined where it is no name of a person; groups that are none are left out. */
export function personNamed(
  named: string,
  groups: NamedGroups,
  { userPrefix, groupsPrefix }: { userPrefix: string; groupsPrefix: string },
): Person | undefined {
  const name = `${userPrefix}${named}`
  if (named === '' || hasSpaceAround(named) || name.length > maxNameLength || /\p{Cc}/u.test(name) || name.startsWith(reserved))
    return undefined
  const own = groups
    .filter((group) => group !== '' && !hasSpaceAround(group) && group.length <= maxNameLength && !/\p{Cc}/u.test(group))
    .map((group) => `${groupsPrefix}${group}`)
    .filter((group) => !group.startsWith(reserved))
  return { name, groups: [...new Set(own)].slice(0, maxGroups).concat(everybody) }
}

/** Such a name would be read as another one by whoever trims it. */
function hasSpaceAround(text: string): boolean {
  return text !== text.trim()
}
