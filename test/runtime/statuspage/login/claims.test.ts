import t from 'tap'
import { isIncomplete, personByClaims } from '../../../../runtime/statuspage/login/claims.ts'

const settings = { usernameClaim: 'email', groupsClaim: 'groups', usernamePrefix: 'oidc:', groupsPrefix: 'oidc:' }

void t.test('a person has the name and the groups of the claims, with their prefixes', async (t) => {
  t.match(personByClaims({ email: 'ann@plant.example', email_verified: true, groups: ['line', 'admins'] }, settings), {
    name: 'oidc:ann@plant.example',
    groups: ['oidc:line', 'oidc:admins', 'system:authenticated'],
  })
  t.match(personByClaims({ email: 'ann@plant.example', groups: 'line' }, settings), { groups: ['oidc:line', 'system:authenticated'] })
})

void t.test('an address that the provider has not confirmed is nobody', async (t) => {
  t.equal(personByClaims({ email: 'ann@plant.example', email_verified: false }, settings), 'unverified')
  t.equal(personByClaims({ email: 'ann@plant.example', email_verified: 'true' }, settings), 'unverified')
})

void t.test('a name with space around it is not the name without', async (t) => {
  for (const name of ['bob ', ' bob', 'bob\u00a0', '', 7])
    t.equal(personByClaims({ email: name }, settings), 'noName', JSON.stringify(name))
  t.match(personByClaims({ email: 'bob', groups: ['admins ', 'line'] }, settings), { groups: ['oidc:line', 'system:authenticated'] })
})

void t.test('no login makes a part of the cluster', async (t) => {
  const bare = { ...settings, usernamePrefix: '', groupsPrefix: '' }
  t.equal(personByClaims({ email: 'system:admin' }, bare), 'noName')
  t.match(personByClaims({ email: 'bob', groups: ['system:masters', 'line'] }, bare), { groups: ['line', 'system:authenticated'] })
})

void t.test('more groups than a cookie holds, or groups that stand elsewhere, are told apart from none', async (t) => {
  t.equal(personByClaims({ email: 'bob', groups: Array.from({ length: 101 }, (_, index) => `g${index}`) }, settings), 'overage')
  t.equal(personByClaims({ email: 'bob', _claim_names: { groups: 'elsewhere' } }, settings), 'overage')
  t.equal(isIncomplete({ email: 'bob', _claim_names: { groups: 'elsewhere' } }, settings), false)
  t.equal(isIncomplete({ email: 'bob' }, settings), true)
  t.equal(isIncomplete({ email: 'bob', groups: [] }, settings), false)
})
