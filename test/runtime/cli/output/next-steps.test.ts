import t from 'tap'
import { nextStep } from '../../../../runtime/cli/output/next-steps.ts'
import { reasons } from '../../../../runtime/platform/fault.ts'

void t.test('every reason has a next step: a full sentence that starts with an action', async (t) => {
  for (const reason of Object.keys(reasons)) t.match(nextStep(reason), /^[A-Z][a-z]+\b.*[.]$/, reason)
})

void t.test('every reason has a plain-language cause that differs from its next step', async (t) => {
  for (const [reason, { help }] of Object.entries(reasons)) {
    t.match(help, /^.{12,}[^.]$/, `${reason}: one clause`)
    t.notMatch(help, /\b(?:E[A-Z]{4,}|errno|undefined|Error:)\b/, reason)
    t.not(help, nextStep(reason), reason)
  }
})

void t.test('states that are not faults may have a next step, and unknown reasons have none', async (t) => {
  t.match(nextStep('Drifted'), /git/)
  t.equal(nextStep('toString'), undefined)
  t.equal(nextStep('NoSuchReason'), undefined)
  t.equal(nextStep(undefined), undefined)
})
