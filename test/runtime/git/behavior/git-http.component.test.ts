/**
 * The output of real git for the refusals of an HTTP host, and the reason for each.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(300_000)

const reasonByStatus: Record<number, string> = {
  301: 'RepositoryMoved',
  302: 'RepositoryMoved',
  307: 'RepositoryMoved',
  308: 'RepositoryMoved',
  401: 'GitUnauthorized',
  403: 'GitForbidden',
  404: 'RepositoryNotFound',
  429: 'GitUnreachable',
  500: 'GitUnreachable',
  503: 'GitUnreachable',
}

void t.test('a refusal of the git host has the reason of its status, and a redirect says what to do', async (t) => {
  if (!requires(t, 'git')) return
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const [, status] = /^\/([0-9]{3})/.exec(request.url ?? '') ?? []
    response.writeHead(Number(status ?? 204), { location: 'http://127.0.0.1:1/elsewhere' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const mirrors = createMirrors({ folder: temporaryFolder(t, 'http'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  for (const [status, reason] of Object.entries(reasonByStatus)) {
    for (const fresh of [true, false]) {
      const mirror = mirrors.of(anonymousRemote(`http://127.0.0.1:${port}/${status}/plant.git`, { allowLocal: false }))
      const fault: unknown = await mirror.resolve('refs/heads/main', { fresh }, signal).catch((error: unknown) => error)
      if (!(fault instanceof Fault)) throw new Error(`${status}: ${String(fault)}`)
      t.equal(fault.reason, reason, status)
      if (status.startsWith('3')) t.match(fault.message, /redirects.*spec\.git\.repo/, status)
    }
  }
  t.ok(asked.length > 0 && asked.every((url) => /^\/[0-9]{3}\//.test(url)), 'no redirect was followed')
})

void t.test('a response that is not from git is reported with status and content type, never as a missing ref', async (t) => {
  if (!requires(t, 'git')) return
  const login = '<html>\n<body>\nlogin\n</body>\n</html>\n'
  const pages: Record<string, [status: number, headers: Record<string, string>, body: string]> = {
    line: [200, { 'content-type': 'text/html; charset=utf-8' }, 'ok'],
    empty: [203, {}, ''],
    nothing: [204, {}, ''],
    login: [200, { 'content-type': 'Text/HTML' }, login],
    maintenance: [200, { 'content-type': 'application/json' }, '{"maintenance":true}'],
    dumb: [200, { 'content-type': 'text/plain' }, `${'a'.repeat(40)}\trefs/heads/main\n`],
    odd: [200, { 'content-type': 'a secret of the host' }, ''],
    busy: [503, { 'content-type': 'text/html', 'retry-after': '120' }, login],
    limited: [429, { 'retry-after': '7' }, ''],
    dated: [429, { date: 'Fri, 27 Nov 2026 02:59:20 GMT', 'retry-after': 'Fri, 27 Nov 2026 03:00:00 GMT' }, ''],
  }
  const host = await startGitHost(temporaryFolder(t, 'pages'), {
    before(request, response) {
      const [status, headers, body] = pages[/^\/(\w+)\//.exec(request.url ?? '')?.[1] ?? ''] ?? [404, {}, '']
      response.writeHead(status, headers).end(body)
      return true
    },
  })
  t.teardown(async () => host.stop())
  const mirrors = createMirrors({ folder: temporaryFolder(t, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const at = `127.0.0.1:${host.port}`
  const advice = 'check whether spec.git.repo is the clone URL, and whether a proxy, login page or maintenance page answers for the host'
  const said: Record<string, [message: string, retryAfterMs: number | undefined]> = {
    line: [`${at} answers with status 200 and a web page (text/html) instead of git; ${advice}`, undefined],
    empty: [`${at} answers with status 203 and no content type instead of git; ${advice}`, undefined],
    nothing: [`${at} answers with status 204 and no content type instead of git; ${advice}`, undefined],
    login: [`${at} answers with status 200 and a web page (text/html) instead of git; ${advice}`, undefined],
    maintenance: [`${at} answers with status 200 and application/json instead of git; ${advice}`, undefined],
    dumb: [`${at} answers with status 200 and text/plain instead of git; ${advice}`, undefined],
    odd: [`${at} answers with status 200 and no content type instead of git; ${advice}`, undefined],
    busy: [`${at} answers with status 503 and a web page (text/html)`, 120_000],
    limited: [`${at} answers with status 429, too many requests`, 7_000],
    dated: [`${at} answers with status 429, too many requests`, 40_000],
  }
  for (const [name, [message, retryAfterMs]] of Object.entries(said)) {
    // git exits with 0 for a listing of such a response.
    for (const ref of ['refs/heads/main', ...(name === 'line' ? ['HEAD', 'semver:*', 'a'.repeat(40)] : [])]) {
      const mirror = mirrors.of(anonymousRemote(host.url(`${name}/plant.git`), { allowLocal: false }))
      const fault: unknown = await mirror.resolve(ref, { fresh: true }, signal).catch((error: unknown) => error)
      if (!(fault instanceof Fault)) throw new Error(`${name}: ${String(fault)}`)
      t.strictSame([fault.reason, fault.message, fault.retryAfterMs], ['GitUnreachable', message, retryAfterMs], `${name} ${ref}`)
    }
  }
})
