/**
 * Compares the events of a list-watch consumer with the actual history. In Kubernetes a list may skip versions and a watch may not: between
 * two lists each version of each object arrives once, in order, however often the connection was cut.
 */

/** One version of one object, or its deletion. Revisions are those of etcd, which resource versions equal. */
export type Change = { key: string; revision: number; isGone: boolean }

/** `listing`: a list begins; `listed`: it has ended, with this revision. Events in between come from the list. */
export type Told =
  { is: 'listing' } | { is: 'listed'; revision: number } | { is: 'put'; key: string; revision: number } | { is: 'gone'; key: string }

export type Comparison = { wrong: string[]; lists: number; watched: number }

/** `happened` in order of revisions. Everything in it must have arrived in the end. */
export function compareVersions(happened: readonly Change[], told: readonly Told[]): Comparison {
  const wrong: string[] = []
  const known = new Map<string, number>()
  let lists = 0
  let watched = 0
  /** The next change that the watch must deliver; undefined during a list, which may contain anything. */
  let next: number | undefined
  for (const one of told) {
    if (one.is === 'listing') next = undefined
    else if (one.is === 'listed') {
      lists += 1
      wrong.push(...differencesOfList(known, stateAt(happened, one.revision), one.revision))
      next = firstAfter(happened, one.revision)
    } else {
      if (next !== undefined) {
        watched += 1
        const found = indexFrom(happened, next, (change) => isSame(change, one))
        if (found === -1) wrong.push(`${textOf(one)} was told by a watch, and did not happen then`)
        else {
          wrong.push(...happened.slice(next, found).map((change) => `${textOfChange(change)} was not told by the watch, which went on`))
          next = found + 1
        }
      }
      if (one.is === 'put') known.set(one.key, one.revision)
      else known.delete(one.key)
    }
  }
  if (next === undefined) wrong.push('the last list did not end')
  else wrong.push(...happened.slice(next).map((change) => `${textOfChange(change)} was never told`))
  return { wrong, lists, watched }
}

function isSame(change: Change, told: Extract<Told, { key: string }>): boolean {
  return change.key === told.key && (told.is === 'gone' ? change.isGone : !change.isGone && change.revision === told.revision)
}

function indexFrom(happened: readonly Change[], start: number, is: (change: Change) => boolean): number {
  for (let index = start; index < happened.length; index += 1) {
    const change = happened[index]
    if (change !== undefined && is(change)) return index
  }
  return -1
}

function firstAfter(happened: readonly Change[], revision: number): number {
  const found = indexFrom(happened, 0, (change) => change.revision > revision)
  return found === -1 ? happened.length : found
}

function stateAt(happened: readonly Change[], revision: number): Map<string, number> {
  const state = new Map<string, number>()
  for (const change of happened) {
    if (change.revision > revision) break
    if (change.isGone) state.delete(change.key)
    else state.set(change.key, change.revision)
  }
  return state
}

function differencesOfList(known: ReadonlyMap<string, number>, state: ReadonlyMap<string, number>, revision: number): string[] {
  const keys = [...new Set([...known.keys(), ...state.keys()])]
  return keys
    .filter((key) => known.get(key) !== state.get(key))
    .map((key) => `${key} was known as ${known.get(key) ?? 'gone'} after a list of ${revision}, and was ${state.get(key) ?? 'gone'}`)
}

function textOf(told: Extract<Told, { key: string }>): string {
  return told.is === 'gone' ? `the end of ${told.key}` : `${told.key} in ${told.revision}`
}

function textOfChange({ key, revision, isGone }: Change): string {
  return isGone ? `the end of ${key} in ${revision}` : `${key} in ${revision}`
}
