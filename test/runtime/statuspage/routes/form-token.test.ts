/**
 * Tests that a form token is valid for ten minutes with any of the keys during a key rotation.
 */
import t from 'tap'
import { formToken, isFormToken } from '../../../../runtime/statuspage/routes/form-token.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { keyFrom } from '../../../../runtime/statuspage/login/sealed.ts'

const now = Temporal.Instant.from('2026-03-01T12:00:00Z')
const form = { browser: 'A'.repeat(22), person: { name: 'ann' }, act: ['north', 'line', 'pause', ''] }
const [old, fresh, other] = ['the old secret, long', 'the new secret, long', 'that of somebody else'].map((secret) =>
  keyFrom(secret, 'form'),
)
if (old === undefined || fresh === undefined || other === undefined) throw new Error('three keys')

void t.test('a form token is valid for ten minutes', async (t) => {
  const token = formToken([old], form, now)
  t.equal(isFormToken([old], form, token, now.add({ minutes: 10 }).subtract({ seconds: 1 })), true)
  t.equal(isFormToken([old], form, token, now.add({ minutes: 10 })), false)
})

void t.test('the first key signs, and all keys verify', async (t) => {
  const token = formToken([old], form, now)
  t.equal(isFormToken([fresh, old], form, token, now), true)
  t.equal(isFormToken([fresh], form, token, now), false)
  t.equal(isFormToken([fresh], form, formToken([fresh, old], form, now), now), true)
  t.equal(isFormToken([other], form, token, now), false)
  t.equal(isFormToken([], form, token, now), false)
  t.throws(() => formToken([], form, now))
})

void t.test('joined fields are unambiguous', async (t) => {
  const token = formToken([old], form, now)
  for (const act of [
    ['north', 'line', 'pause'],
    ['northline', 'pause', ''],
    ['north', 'line', '', 'pause'],
  ])
    t.equal(isFormToken([old], { ...form, act }, token, now), false, act.join('|'))
  t.not(Buffer.from(keyFrom('one secret, long enough', 'form')).equals(keyFrom('one secret, long enough', 'session')), true)
  t.not(Buffer.from(keyFrom('one secret, long enough', 'session')).equals(keyFrom('one secret, long enough', 'session', 'elsewhere')), true)
})
