/**
 * Takes minutes. Each call with which the engine changes a folder fails, once and from then on, with each error of a disk, and the engine
 * is killed at it and soon after it: for every call of two awkward trees.
 */
import t from 'tap'
import { awkwardTrees, type Campaign, faultCampaign, trialsAt } from '../support/fault-campaign.ts'

void t.test('the folder is one commit whichever call fails and wherever the engine is killed', { timeout: 600_000 }, async (t) => {
  const campaigns: { to: 0 | 1; campaign: Campaign }[] = []
  for (const to of [0, 1] as const) {
    const campaign = await faultCampaign(t, awkwardTrees)
    if (campaign === undefined) return
    campaigns.push({ to, campaign })
  }
  await Promise.all(campaigns.map(tryAll))

  async function tryAll({ to, campaign }: { to: 0 | 1; campaign: Campaign }): Promise<void> {
    const calls = await campaign.countCalls(to)
    t.ok(calls > 40, `${calls} calls`)
    const all = Array.from({ length: calls + 1 }, (_, index) => trialsAt(to, index + 1))
    await campaign.run(all.flatMap(({ failing }) => failing))
    await campaign.run(all.flatMap(({ killed }) => killed))
  }
})
