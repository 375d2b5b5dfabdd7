/**
 * Watches the GatewaySync file during a run by its content: editors, configuration management tools and mounted volumes replace it in
 * different ways.
 */
import { type Clock, pause } from '../../platform/clock.ts'
import { asFault } from '../../platform/fault.ts'
import type { Followed } from './run-settings.ts'
import type { RunEvent } from '../output/narrate.ts'

/** Polling interval of the file. */
const everyMs = 1_000

type Watched = {
  file: string
  /** The text that is followed now. */
  text: string
  /** Throws InvalidConfiguration. */
  read(): string
  follow(text: string): Followed
}

/**
 * Waits until the file has new valid content, and returns it; undefined when the signal fires. An invalid version is reported once. A missing file is
 * probably being replaced.
 */
export async function nextVersion(
  { clock, emit }: { clock: Clock; emit(event: RunEvent): void },
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
      if (isLasting && trouble !== undefined) emit({ event: 'specRefused', message: trouble })
      continue
    }
    unreadable = undefined
    if (now === seen) continue
    seen = now
    const [followed, why] = attempt(() => follow(now))
    if (followed === undefined) emit({ event: 'specRefused', message: why ?? `${file} cannot be followed` })
    else if (now !== text) {
      emit({ event: 'specChanged', file })
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
