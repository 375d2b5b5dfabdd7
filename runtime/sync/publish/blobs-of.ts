/**
 * Which contents a plan's files need, each once. Pure.
 */
import type { BlobId } from '../../delivery/protocol.ts'
import type { FileStat } from '../model/manifest.ts'
import type { PlannedPut } from '../plan/plan.ts'
import type { PutTarget, Targets } from './incoming-blob.ts'

/** The blobs to ask for, each once, without those of files that are `present`; `targetsOf` gives the files for the blob at a place in `ids`. */
export function blobsOf(
  puts: readonly PlannedPut[],
  present: readonly (FileStat | undefined)[],
): { ids: BlobId[]; targetsOf(place: number): Targets | undefined } {
  const places = new Map<BlobId, number>()
  const firsts: number[] = []
  const others = new Map<number, number[]>()
  for (let index = 0; index < puts.length; index += 1) {
    const id = puts[index]?.id
    if (id === undefined || present[index] !== undefined) continue
    const place = places.get(id)
    if (place === undefined) {
      places.set(id, firsts.length)
      firsts.push(index)
      continue
    }
    const copies = others.get(place) ?? []
    copies.push(index)
    others.set(place, copies)
  }
  const targetAt = (index: number): PutTarget[] => {
    const put = puts[index]
    return put === undefined ? [] : [{ put, index }]
  }
  return {
    ids: [...places.keys()],
    targetsOf(place) {
      const index = firsts[place] ?? -1
      const put = puts[index]
      if (put === undefined) return undefined
      const copies = others.get(place)
      return copies === undefined ? [{ put, index }] : [{ put, index }, ...copies.flatMap(targetAt)]
    },
  }
}
