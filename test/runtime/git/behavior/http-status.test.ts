/**
 * The meaning of an HTTP status of a git host.
 */
import t from 'tap'
import { parseRepositoryUrl } from '../../../../runtime/api/schema/repository-url.ts'
import { faultOf } from '../../../../runtime/git/command/faults.ts'
import { containsText } from '../../../support/assertions.ts'

void t.test('an HTTP status is named and never taken for a missing ref', async (t) => {
  const url = parseRepositoryUrl('https://git.example/plant.git')
  if (url === undefined) throw new Error('the URL is one')
  const access = { identity: '', texts: [], credentials: { kind: 'none' as const }, caBundle: undefined, proxy: undefined }
  const rows: [number, string, RegExp][] = [
    [302, 'RepositoryMoved', /login page/],
    [303, 'RepositoryMoved', /login page/],
    [400, 'GitUnreachable', /^git\.example answers with status 400, .*clone URL$/],
    [401, 'GitUnauthorized', /\(401\)$/],
    [403, 'GitForbidden', /\(403\)$/],
    [404, 'RepositoryNotFound', /^there is no such repository/],
    [410, 'GitUnreachable', /^git\.example answers with status 410: the repository is no longer available/],
    [418, 'GitUnreachable', /^git\.example answers with status 418, /],
    [429, 'GitUnreachable', /^git\.example answers with status 429, too many requests$/],
    [451, 'GitUnreachable', /^git\.example answers with status 451: /],
    [503, 'GitUnreachable', /^git\.example answers with status 503$/],
  ]
  for (const [status, reason, message] of rows) {
    const line = `fatal: unable to access 'https://git.example/plant.git/': The requested URL returned error: ${status}`
    const fault = faultOf(line, 'fetch', { url, access, proxy: undefined })
    t.equal(fault.reason, reason, String(status))
    containsText(t, fault.message, message)
  }
})
