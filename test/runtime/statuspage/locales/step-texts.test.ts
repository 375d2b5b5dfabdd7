/**
 * Tests that the recommended steps need no terminal and exist in both languages.
 */
import t from 'tap'
import type { Step } from '../../../../runtime/fleet/steps.ts'
import { stepTextsIn } from '../../../../runtime/statuspage/locales/step-texts.ts'
import { containsText } from '../../../support/assertions.ts'
import { commit } from '../../../support/fleet-facts.ts'

const each: { [Kind in Step['kind']]: Step & { kind: Kind } } = {
  approve: { kind: 'approve', stage: 'canary' },
  resumeRollout: { kind: 'resumeRollout' },
  abortRollout: { kind: 'abortRollout' },
  retryRollout: { kind: 'retryRollout' },
  correctFindings: { kind: 'correctFindings', published: commit },
  sign: { kind: 'sign', published: commit },
  resume: { kind: 'resume' },
  resumeInFile: { kind: 'resumeInFile' },
  leaveDryRun: { kind: 'leaveDryRun' },
  checkOperator: { kind: 'checkOperator' },
  passes: { kind: 'passes', published: commit },
  waitsForChange: { kind: 'waitsForChange', published: commit },
  recreatePod: { kind: 'recreatePod', pod: 'gw-7' },
  confirmDeletions: { kind: 'confirmDeletions', commit },
  confirmOverwrites: { kind: 'confirmOverwrites', commit },
  confirmDeletionsInFile: { kind: 'confirmDeletionsInFile', commit },
  confirmOverwritesInFile: { kind: 'confirmOverwritesInFile', commit },
  gatewayTriesAgain: { kind: 'gatewayTriesAgain' },
  gatewayWaitsForChange: { kind: 'gatewayWaitsForChange' },
  lookAtChanges: { kind: 'lookAtChanges' },
  runbook: { kind: 'runbook', reason: 'ScanFailed', entry: 'docs/how-to/runbook.md#scanfailed' },
}
const steps: Step[] = Object.values(each)

void t.test('each step has its own text in each language, which names its subject', async (t) => {
  for (const language of ['en', 'de'] as const) {
    const { sentence } = stepTextsIn(language)
    const said = steps.map((step) => sentence(step))
    t.equal(new Set(said).size, steps.length, language)
    for (const one of said) t.match(one, /^[A-ZÄÖÜ].*\.$/, one)
    for (const step of steps) {
      const about = Object.entries(step).filter(([key]) => key !== 'kind' && key !== 'entry')
      for (const [, value] of about) containsText(t, sentence(step), String(value).slice(0, 8), `${language} ${step.kind}`)
    }
  }
  for (const step of steps) t.not(stepTextsIn('de').sentence(step), stepTextsIn('en').sentence(step), step.kind)
})

void t.test('no step shown in a cluster requires kubectl or the command line', async (t) => {
  const ofRun = new Set(['confirmOverwritesInFile'])
  for (const language of ['en', 'de'] as const) {
    for (const step of steps.filter(({ kind }) => !ofRun.has(kind)))
      t.notMatch(stepTextsIn(language).sentence(step), /kubectl|cluster-sync|docs\//, step.kind)
  }
})
