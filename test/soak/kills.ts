/**
 * Rounds of 300 kills at random instants, 100 each over folders of 50, 2,000 and 10,000 files, until the time is over; a round always
 * completes. After each kill the folder must be exactly one commit.
 */
import { systemClock } from '../../runtime/platform/clock.ts'
import { killAtRandom } from '../support/kill-campaign.ts'

const sizes = [50, 2_000, 10_000]
const killsPerSize = 100

export async function run({ minutes }: { minutes: number }): Promise<string[]> {
  const endMs = systemClock.monotonicMs() + minutes * 60_000
  do {
    for (const files of sizes) {
      const teardowns: (() => unknown)[] = []
      try {
        const { wrong, publishing, staging, between } = await killAtRandom(
          { teardown: (handler: () => unknown) => void teardowns.push(handler) },
          files,
          killsPerSize,
        )
        const kills = publishing + staging + between
        process.stdout.write(
          `${files} files: ${kills} kills, ${publishing} of them in a publish, ${staging} while staging: ${wrong.length === 0 ? 'exact' : 'WRONG'}\n`,
        )
        if (wrong.length > 0) return wrong
      } finally {
        for (const handler of teardowns.toReversed()) await handler()
      }
    }
  } while (systemClock.monotonicMs() < endMs)
  return []
}
