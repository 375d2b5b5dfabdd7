import t from 'tap'
import { nextStep } from '../../../../runtime/cli/story/next-steps.ts'
import { reasons } from '../../../../runtime/fault.ts'

void t.test('every reason has a next step: a whole sentence that begins with what to do', async (t) => {
  for (const reason of Object.keys(reasons)) t.match(nextStep(reason), /^[A-Z][a-z]+\b.*[.]$/, reason)
})

void t.test('every reason has a cause in plain words, beside the step', async (t) => {
  for (const [reason, { help }] of Object.entries(reasons)) {
    t.match(help, /^.{12,}[^.]$/, `${reason}: one clause`)
    t.notMatch(help, /\b(?:E[A-Z]{4,}|errno|undefined|Error:)\b/, reason)
    t.not(help, nextStep(reason), reason)
  }
})

void t.test('states that are no faults have one, and other words none', async (t) => {
  t.match(nextStep('Drifted'), /git/)
  t.equal(nextStep('toString'), undefined)
  t.equal(nextStep('NoSuchReason'), undefined)
  t.equal(nextStep(undefined), undefined)
})
