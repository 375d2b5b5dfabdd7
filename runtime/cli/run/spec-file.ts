/**
 * Looks at the file with the GatewaySync while a run goes on: editors, configuration management and mounted volumes replace it in different
 * ways, so its content is what counts.
 */
import { type Clock, pause } from '../../clock.ts'
import { asFault } from '../../fault.ts'
import type { StoryEvent } from '../story/events.ts'
import type { Followed } from './run-settings.ts'

/** How often the file is looked at. */
const everyMs = 1_000

type Watched = {
  file: string
  /** What is followed now. */
  text: string
  /** Throws InvalidConfiguration. */
  read(): string
  follow(text: string): Followed
}

/**
 * Waits until the file says something else that can be followed, and returns it; undefined when the signal fires. What cannot be followed
 * is told once. A file that is away for a moment is one that somebody replaces just now.
 */
export async function nextVersion(
  { clock, tell }: { clock: Clock; tell(event: StoryEvent): void },
  { file, text, read, follow }: Watched,
  signal: AbortSignal,
): Promise<{ followed: Followed; text: string } | undefined> {
  let seen = text
  let unreadable: string | undefined
  for (;;) {
    await pause(clock, everyMs, signal)
    if (signal.aborted) return undefined
    const [now, trouble] = attempt(read)
    if (now === undefined) {
      if (trouble === unreadable) continue
      const isLasting = unreadable !== undefined
      unreadable = isLasting ? trouble : ''
      if (isLasting && trouble !== undefined) tell({ event: 'specRefused', message: trouble })
      continue
    }
    unreadable = undefined
    if (now === seen) continue
    seen = now
    const [followed, why] = attempt(() => follow(now))
    if (followed === undefined) tell({ event: 'specRefused', message: why ?? `${file} cannot be followed` })
    else if (now !== text) {
      tell({ event: 'specChanged', file })
      return { followed, text: now }
    }
  }
}

function attempt<Result>(work: () => Result): [Result | undefined, string | undefined] {
  try {
    return [work(), undefined]
  } catch (error) {
    const fault = asFault(error)
    if (fault.reason !== 'InvalidConfiguration') throw error
    return [undefined, fault.message]
  }
}
