/**
 * Tests a sample of failing file system calls and kills of the engine. FAULT_SEED repeats a sample; test/integration/failing-calls.test.ts
 * tests every call.
 */
import t from 'tap'
import { awkwardTrees, faultCampaign, trialsAt } from '../../../support/fault-campaign.ts'
import { randomFrom } from '../../../support/seeded-random.ts'

const seed = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000)

void t.test('a failing call or a kill leaves exactly one commit and no wrong report', { timeout: 600_000 }, async (t) => {
  const campaign = await faultCampaign(t, awkwardTrees)
  if (campaign === undefined) return
  const random = randomFrom(seed, 'awkward')
  t.comment(`seed ${seed}`)
  for (const to of [0, 1] as const) {
    const calls = await campaign.countCalls(to)
    const all = Array.from({ length: calls }, (_, index) => trialsAt(to, index + 1))
    const failing = all.flatMap((each) => each.failing).filter(() => random() < 0.02)
    const killed = all.flatMap((each) => each.killed).filter(() => random() < 0.008)
    await campaign.run([...failing, ...killed])
  }
})
