import t from 'tap'
import { isIncomplete, personByClaims } from '../../../../runtime/statuspage/login/claims.ts'
import { matchObject } from '../../../support/assertions.ts'

const settings = { usernameClaim: 'email', groupsClaim: 'groups', usernamePrefix: 'oidc:', groupsPrefix: 'oidc:' }

void t.test('a user has the name and groups of the claims, with their prefixes', async (t) => {
  matchObject(t, personByClaims({ email: 'ann@plant.example', email_verified: true, groups: ['line', 'admins'] }, settings), {
    name: 'oidc:ann@plant.example',
    groups: ['oidc:line', 'oidc:admins', 'system:authenticated'],
  })
  matchObject(t, personByClaims({ email: 'ann@plant.example', groups: 'line' }, settings), {
    groups: ['oidc:line', 'system:authenticated'],
  })
})

void t.test('an unverified email address is rejected', async (t) => {
  t.equal(personByClaims({ email: 'ann@plant.example', email_verified: false }, settings), 'unverified')
  t.equal(personByClaims({ email: 'ann@plant.example', email_verified: 'true' }, settings), 'unverified')
})

void t.test('a name with surrounding whitespace is rejected', async (t) => {
  for (const name of ['bob ', ' bob', 'bob\u00a0', '', 7])
    t.equal(personByClaims({ email: name }, settings), 'noName', JSON.stringify(name))
  matchObject(t, personByClaims({ email: 'bob', groups: ['admins ', 'line'] }, settings), { groups: ['oidc:line', 'system:authenticated'] })
})

void t.test('a login cannot claim a system: name or group', async (t) => {
  const bare = { ...settings, usernamePrefix: '', groupsPrefix: '' }
  t.equal(personByClaims({ email: 'system:admin' }, bare), 'noName')
  matchObject(t, personByClaims({ email: 'bob', groups: ['system:masters', 'line'] }, bare), { groups: ['line', 'system:authenticated'] })
})

void t.test('too many groups or distributed claims are distinguished from no groups', async (t) => {
  t.equal(personByClaims({ email: 'bob', groups: Array.from({ length: 101 }, (_, index) => `g${index}`) }, settings), 'overage')
  t.equal(personByClaims({ email: 'bob', _claim_names: { groups: 'elsewhere' } }, settings), 'overage')
  t.equal(isIncomplete({ email: 'bob', _claim_names: { groups: 'elsewhere' } }, settings), false)
  t.equal(isIncomplete({ email: 'bob' }, settings), true)
  t.equal(isIncomplete({ email: 'bob', groups: [] }, settings), false)
})
