/**
 * What real git makes of an HTTP host's refusals, and which reason each becomes.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { systemClock } from '../../../../runtime/clock.ts'
import { Fault } from '../../../../runtime/fault.ts'
import { silentLog } from '../../../../runtime/log.ts'
import { createMirrors } from '../../../../runtime/source/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/source/remote/remote.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(300_000)

const reasonByStatus: Record<number, string> = {
  301: 'RepositoryMoved',
  302: 'RepositoryMoved',
  307: 'RepositoryMoved',
  308: 'RepositoryMoved',
  401: 'GitUnauthorised',
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
