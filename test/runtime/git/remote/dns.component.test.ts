import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { createLookUp } from '../../../../runtime/git/remote/dns.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { type Names, startNameServer } from '../../../support/name-server.ts'
import { temporaryFolder } from '../../../support/repository.ts'

/** What Kubernetes writes for a pod of the namespace `plant`. */
const configuration = 'search plant.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5 edns0\n'
const hosts = '127.0.0.1\tlocalhost\n::1 localhost # IPv6\nfd00::7 git.plant\n10.1.2.3 git.plant GIT\n'

async function open(t: Test, names: Names, { text = configuration, timeout = 2_500 } = {}) {
  const folder = temporaryFolder(t, 'dns')
  const [hostsFile, configurationFile] = [path.join(folder, 'hosts'), path.join(folder, 'resolv.conf')]
  writeFileSync(hostsFile, hosts)
  writeFileSync(configurationFile, text)
  const { resolver, asked, stop } = await startNameServer(names, { timeout, tries: 1 })
  t.teardown(stop)
  const lookUp = createLookUp({ hostsFile, configurationFile, resolver })
  return { asked, lookUp: async (host: string, signal = AbortSignal.timeout(20_000)) => await lookUp(host, signal) }
}

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  )
}

void t.test('the short name of a Service is completed with the search domains', async (t) => {
  const { lookUp, asked } = await open(t, { 'gitea.default.svc.cluster.local': ['10.96.3.4'] })
  t.strictSame(await lookUp('gitea.default'), ['10.96.3.4'])
  t.strictSame(asked(), ['gitea.default.plant.svc.cluster.local', 'gitea.default.svc.cluster.local'])
})

void t.test('a name outside the cluster is found after the search domains, IPv4 first', async (t) => {
  const address = '2001:db8:0:0:0:0:0:7'
  const { lookUp } = await open(t, { 'git.example.com': [address, '192.0.2.7'], 'git.example.com.cluster.local': 'fails' })
  t.strictSame(await lookUp('git.example.com'), ['192.0.2.7', '2001:db8::7'])
})

void t.test('a name with a final dot, or with enough dots, is asked for as it is', async (t) => {
  const names: Names = { 'a.b.c.d.e.f': ['192.0.2.1'], 'git.example': ['192.0.2.2'], 'git.example.cluster.local': ['10.0.0.1'] }
  const { lookUp, asked } = await open(t, names)
  t.strictSame(await lookUp('a.b.c.d.e.f'), ['192.0.2.1'])
  t.strictSame(await lookUp('git.example.'), ['192.0.2.2'])
  t.strictSame(asked(), ['a.b.c.d.e.f', 'git.example'])
  const withoutOptions = await open(t, names, { text: 'search first.example\nsearch cluster.local.\n' })
  t.strictSame(await withoutOptions.lookUp('git.example'), ['192.0.2.2'])
  t.equal(await codeOf(withoutOptions.lookUp('none.example')), 'ENOTFOUND')
  t.strictSame(withoutOptions.asked(), ['git.example', 'none.example', 'none.example.cluster.local'])
})

void t.test('the hosts file comes first', async (t) => {
  const { lookUp, asked } = await open(t, { 'git.plant': ['192.0.2.1'] })
  t.strictSame(await lookUp('localhost'), ['127.0.0.1', '::1'])
  t.strictSame(await lookUp('Git.Plant'), ['10.1.2.3', 'fd00::7'])
  t.strictSame(asked(), [])
})

void t.test('a search domain without an answer ends the search: the name may mean something else elsewhere', async (t) => {
  const { lookUp, asked } = await open(t, { 'gitea.plant.svc.cluster.local': 'never', gitea: ['192.0.2.66'] }, { timeout: 250 })
  t.equal(await codeOf(lookUp('gitea')), 'ETIMEOUT')
  t.strictSame(asked(), ['gitea.plant.svc.cluster.local'])
})

void t.test('a caller that leaves ends the search', async (t) => {
  const { lookUp, asked } = await open(t, { 'git2.plant.svc.cluster.local': 'never' })
  const stop = new AbortController()
  const left = lookUp('git2', stop.signal)
  while (asked().length === 0) await new Promise((done) => setImmediate(done))
  stop.abort(new Error('left'))
  await rejectsWith(t, left, new Error('left'))
  await rejectsWith(t, lookUp('git2', stop.signal), new Error('left'))
})

void t.test('a name server that never answers a question for IPv6 delays the IPv4 address, but does not hide it', async (t) => {
  const { lookUp } = await open(t, { 'git.plant.example': ['192.0.2.7', 'never'] }, { timeout: 250 })
  t.strictSame(await lookUp('git.plant.example.'), ['192.0.2.7'])
})
