/**
 * Reads the resources of steps in one stream, in their order, and judges each as it comes.
 */
import { readResources } from './read-resources.ts'
import type { ResourceContext } from '../rules/input.ts'
import { checkResource } from './check-resource.ts'
import type { Listing } from '../model/listing.ts'
import type { CheckStep } from './remembered.ts'

/** Sets `judged` of each step. Throws what reading throws. */
export async function checkSteps(
  listing: Listing,
  steps: readonly CheckStep[],
  context: ResourceContext,
  signal: AbortSignal,
): Promise<void> {
  let index = 0
  await readResources(
    listing,
    steps,
    (content) => {
      const step = steps[index]
      index += 1
      if (step !== undefined) step.judged = checkResource(content, step, context)
    },
    signal,
  )
}
