/**
 * Like failing-calls.test.ts, for some calls of a change among 2,000 files.
 */
import t from 'tap'
import { faultCampaign, manyFiles, trialsAt } from '../support/fault-campaign.ts'
import { randomFrom } from '../support/seeded-random.ts'

const seed = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000)

void t.test('with 2,000 files the folder is one commit whichever call fails', { timeout: 600_000 }, async (t) => {
  const campaign = await faultCampaign(t, manyFiles(2_000))
  if (campaign === undefined) return
  const random = randomFrom(seed, 'many')
  t.comment(`FAULT_SEED=${seed}`)
  for (const to of [0, 1] as const) {
    const calls = await campaign.countCalls(to)
    const some = Array.from({ length: 40 }, () => trialsAt(to, 1 + Math.floor(random() * calls)))
    await campaign.run(some.flatMap(({ failing, killed }) => [...failing, ...killed].filter(() => random() < 0.12)))
  }
})
