/**
 * Tests that each part of the pages is present with its content in both languages, regardless of the wording.
 */
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { FleetFacts } from '../../../../runtime/fleet/facts.ts'
import { detailTextsIn } from '../../../../runtime/statuspage/locales/detail-texts.ts'
import { acceptedTexts } from '../../../../runtime/statuspage/locales/texts.ts'
import { containsText, lacksText } from '../../../support/assertions.ts'
import { now } from '../../../support/fleet-facts.ts'
import { dryGateway, plantCommits, plantFacts, richGateway, richSync, wholeOf } from '../../../support/plant-facts.ts'
import { openStatusPage } from '../../../support/status-page.ts'

/** Returns the visible text on one line. */
function shown(text: string): string {
  const plain = text
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
  return plain.replace(/\s+/g, ' ').replace(/ ([.,:])/g, '$1')
}

/** Returns the card with the given heading, or an empty text. */
function cardOf(page: string, heading: string): string {
  const card = page.split('<section class="card').find((one) => shown(one.split('<h2>')[1]?.split('</h2>')[0] ?? '').startsWith(heading))
  return shown(card?.split('</section>')[0] ?? '')
}

/** The plant with the given number of silent gateways in the first stage of its rollout. */
function withSilent(silent: number): FleetFacts {
  const syncs = plantFacts.syncs.map((sync) => {
    const { rollout } = sync.status
    if (rollout?.stages === undefined) return sync
    const stages = rollout.stages.map((stage, index) => (index === 0 ? { ...stage, silent } : stage))
    return { ...sync, status: { ...sync.status, rollout: { ...rollout, stages } } }
  })
  return { ...plantFacts, syncs }
}

for (const language of ['en', 'de'] as const) {
  const texts = acceptedTexts(language)
  const own = detailTextsIn(language)
  const open = async (t: Pick<Test, 'teardown'>, plant = plantFacts) => {
    const clock = { ...systemClock, now: () => now }
    const report = async ({ pod }: { pod: string }) => wholeOf(plant, pod)
    const facts = { ...plant, notes: ['a note'], warnings: [{ kind: 'openReceiver' as const }] }
    const { get } = await openStatusPage(t, facts, { hosts: ['127.0.0.1'], commits: plantCommits, clock, report })
    return async (path: string): Promise<string> => (await get(path, { 'accept-language': language })).text
  }

  void t.test(`${language}: the first page has tiles with state, mode, commit and one sentence, notes and warnings`, async (t) => {
    const page = await (await open(t))('/')
    containsText(t, shown(page), own.warnings.openReceiver(''))
    containsText(t, shown(page), 'a note')
    containsText(t, shown(page), texts.upToDate(5, 6))
    const tile = shown(page.split('<li class="tile').find((one) => one.includes('/gateways/north-press-2"')) ?? '')
    for (const part of [texts.states.failed, 'prod · a4e1b7f2', texts.runningFor('6m'), 'the gateway answered the scan of'])
      containsText(t, tile, part)
    containsText(t, tile, texts.more(2), 'its remarks stand on its own page')
    lacksText(t, tile, 'a value was empty')
  })

  void t.test(
    `${language}: the page of a GatewaySync has a card for each thing to know, and says first what is out of the ordinary`,
    async (t) => {
      const pageOf = await open(t)
      const page = await pageOf(richSync)
      const banners = shown(page.split('class="parts"')[0] ?? '')
      containsText(t, banners, own.notices.otherVersion(1))
      containsText(t, await pageOf(dryGateway.split('/gateways/')[0] ?? ''), own.notices.dryRun(1))
      containsText(t, cardOf(page, own.state), texts.whatToDo)
      const versions = cardOf(page, own.versions)
      for (const part of ['plant.git', own.polled('60s', true), 'Raise the press timeout']) containsText(t, versions, part)
      const rollout = cardOf(page, own.rollout)
      for (const part of ['fillers', own.rolledOut(2, 4), own.failed(1), own.held(1), own.approvedBy('shift lead')])
        containsText(t, rollout, part)
      const changes = cardOf(page, own.changes)
      const { took, signedBy, isPublished, runIt, by } = own
      for (const part of [took('1.3'), signedBy('SHA256:Qk9y').slice(0, 20), isPublished, runIt(5), by('release pipeline'), 'is no JSON'])
        containsText(t, changes, part)
      const findings = cardOf(page, texts.findings)
      for (const part of [texts.countOf(0, 2), texts.severities.warning, 'plain-credential', 'a password stands here'])
        containsText(t, findings, part)
      const requests = cardOf(page, texts.requests)
      for (const part of [own.outcomes.Refused, 'feature/x', 'RefNotAllowed']) containsText(t, requests, part)
      containsText(t, cardOf(page, own.localChanges), 'palletizer/project.json')
      containsText(t, cardOf(page, own.localChanges), own.becomes.Report)
      containsText(t, cardOf(page, own.designers), 'maintenance-pc-3')
    },
  )

  void t.test(`${language}: a stage that is done says how many of its gateways were silent`, async (t) => {
    const pageOf = await open(t, withSilent(3))
    containsText(
      t,
      cardOf(await pageOf(richSync), own.rollout),
      `${own.rolledOut(2, 2)} ${own.silent(3)} · ${own.approvedBy('shift lead')}`,
    )
  })

  void t.test(`${language}: the page of a gateway has all of its report`, async (t) => {
    const pageOf = await open(t)
    const page = await pageOf(richGateway)
    containsText(t, cardOf(page, own.state), texts.states.failed)
    const facts = cardOf(page, own.gateway)
    for (const part of [texts.runningFor('6m'), own.fileCounts(1, 3, 0, 412), 'press, shared', 'north-press-2'])
      containsText(t, facts, part)
    containsText(t, cardOf(page, own.complaints), 'project.json is no JSON')
    containsText(t, cardOf(page, texts.findings), 'a value was empty')
    containsText(t, cardOf(page, own.lastSyncs), `${texts.states.synced} b4e1b7f2`)
    const drifted = await pageOf(`${richSync}/gateways/north-palletizer`)
    for (const part of ['palletizer/project.json', own.becomes.Report]) containsText(t, cardOf(drifted, own.localChanges), part)
    containsText(t, cardOf(await pageOf(`${richSync}/gateways/north-filler-2`), own.designers), 'maintenance-pc-3')
    for (const part of ['+TRIES = 3', own.ops.change]) containsText(t, cardOf(await pageOf(dryGateway), own.dryRun), part)
  })
}
