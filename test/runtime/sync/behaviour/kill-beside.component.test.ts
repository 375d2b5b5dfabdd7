/**
 * Killed at a random instant, again and again: the next start finds its way to exactly one commit, and the next cycle to the wanted one.
 * The second half of four hundred kills, in a program of its own so that both run at once.
 */
import t from 'tap'
import { killAgainAndAgain } from '../../../support/kill-campaign.ts'
import { requires } from '../../../support/requires.ts'

void t.test('killed at a random instant, the folder is exactly one commit after the next start', { timeout: 280_000 }, async (t) => {
  if (!requires(t, 'env')) return
  await killAgainAndAgain(t, 200)
})
