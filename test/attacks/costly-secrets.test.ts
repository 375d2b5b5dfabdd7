/**
 * Secrets of a namespace that are costly to read: the controller reads them at each poll.
 */
import t from 'tap'
import { dockerLogin } from '../../runtime/git/credentials/read.ts'
import { Fault } from '../../runtime/platform/fault.ts'

void t.test('a login of docker with too many values is not parsed', async (t) => {
  const login = (count: number): string => {
    const lists = Array.from({ length: count }, () => '[]').join(',')
    return `{"auths":{"registry.example":{"username":"ann","password":"x"},"a":[${lists}]}}`
  }
  t.strictSame(dockerLogin(login(10), 'registry.example', 'auth'), { username: 'ann', password: 'x' })
  const refused = new Fault('CredentialsInvalid', 'auth does not contain JSON with auths')
  t.throws(() => dockerLogin(login(300_000), 'registry.example', 'auth'), refused)
})
