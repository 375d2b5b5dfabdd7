import t from 'tap'
import { secretText } from '../../../../runtime/git/remote/secrets.ts'
import { throwsError } from '../../../support/assertions.ts'

void t.test('a text of a Secret has at most 256 KiB, because git gets it as a file', (t) => {
  const text = (bytes: number): string =>
    secretText({ version: '1', data: new Map([['ca.crt', Buffer.alloc(bytes, 'x')]]) }, { name: 'ca', key: 'ca.crt' }, 'spec.git.caBundle')
  t.equal(text(256 * 1024).length, 256 * 1024)
  throwsError(t, () => text(256 * 1024 + 1), {
    reason: 'CredentialsInvalid',
    message: 'spec.git.caBundle: Secret "ca": key "ca.crt" is larger than 256 KiB',
  })
  t.end()
})
