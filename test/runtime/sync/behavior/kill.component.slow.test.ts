/**
 * Tests kills of the engine at random instants; `npm run soak -- kills` performs 300 per round.
 */
import t from 'tap'
import { killAtRandom } from '../../../support/kill-campaign.ts'
import { requires } from '../../../support/requires.ts'

for (const { files, kills } of [
  { files: 50, kills: 80 },
  { files: 2_000, kills: 10 },
]) {
  void t.test(
    `killed at a random instant, a folder of ${files} files is exactly one commit after the next start`,
    { timeout: 600_000 },
    async (t) => {
      if (!requires(t, 'env')) return
      const { wrong, ...found } = await killAtRandom(t, files, kills)
      t.strictSame(wrong, [])
      t.comment(JSON.stringify(found))
    },
  )
}
