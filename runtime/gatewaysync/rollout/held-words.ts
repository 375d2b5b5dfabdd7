/**
 * How a condition, the command line and the status page say that gateways wait because somebody changed files on them. Pure.
 */

/** `held` gateways of a stage, as the rest of a sentence that begins with its name. */
export function heldWords(held: number): string {
  const who = held === 1 ? '1 gateway waits until its' : `${held} gateways wait until their`
  return `${who} local changes are captured or given up`
}
