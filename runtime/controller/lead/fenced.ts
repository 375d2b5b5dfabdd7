/**
 * The API client of the leading replica: each write first makes sure that this replica still leads.
 */
import type { Kube } from '../../kube/client.ts'
import type { Confirm } from '../../kube/lease/hold.ts'

/** Each write waits for `confirm`, which throws when this replica no longer leads; reads do not. */
export function fenced(kube: Kube, confirm: Confirm): Kube {
  return {
    ...kube,
    async create(...write) {
      await confirm(write[2])
      return await kube.create(...write)
    },
    async mergePatch(...write) {
      await confirm(write[4])
      return await kube.mergePatch(...write)
    },
    async apply(...write) {
      await confirm(write[3])
      return await kube.apply(...write)
    },
    async delete(...write) {
      await confirm(write[2])
      await kube.delete(...write)
    },
  }
}
