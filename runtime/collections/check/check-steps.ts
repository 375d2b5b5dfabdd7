/**
 * Reads the resources of steps in one stream, in their order, and judges each as it comes.
 */
import { readResources } from './read-resources.ts'
import type { ResourceContext } from '../rules/input.ts'
import { judge } from './check-resource.ts'
import type { Listing } from '../model/listing.ts'
import type { Step } from './remembered.ts'

export async function judgeSteps(listing: Listing, steps: readonly Step[], context: ResourceContext, signal: AbortSignal): Promise<void> {
  let index = 0
  await readResources(
    listing,
    steps,
    (content) => {
      const step = steps[index]
      index += 1
      if (step !== undefined) step.judged = judge(content, step, context)
    },
    signal,
  )
}
