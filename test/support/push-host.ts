/**
 * A git host over https that anybody may read and that accepts pushes with one token.
 */
import path from 'node:path'
import type { Test } from 'tap'
import { makeAuthority } from './authority.ts'
import { type GitHost, startGitHost } from './git-host.ts'
import type { Repository } from './repository.ts'

export type PushHost = GitHost & {
  /** The authority of its certificate, PEM. */
  ca: string
  /** The number of requests with the token: pushes and others. */
  seen: { pushes: number; others: number }
  pushable(name: string): Repository
}

export async function startPushHost(t: Pick<Test, 'teardown'>, folder: string, token: string): Promise<PushHost> {
  const authority = await makeAuthority(path.join(folder, 'authority'), 'Plant CA')
  const seen = { pushes: 0, others: 0 }
  const host = await startGitHost(path.join(folder, 'pushed'), {
    tls: { cert: authority.server.certificate, key: authority.server.key },
    before(request, response) {
      const given = Buffer.from(/^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '', 'base64').toString('utf8')
      const isKnown = given.endsWith(`:${token}`)
      const isPush = request.url?.includes('git-receive-pack') === true
      if (isKnown) seen[isPush ? 'pushes' : 'others'] += 1
      if (!isPush || isKnown) return false
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return true
    },
  })
  t.teardown(async () => host.stop())
  return {
    ...host,
    ca: authority.certificate,
    seen,
    pushable(name) {
      const repository = host.repository(name)
      repository.git('config', 'http.receivepack', 'true')
      return repository
    },
  }
}
