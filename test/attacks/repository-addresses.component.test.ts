/**
 * A repository URL never reaches the controller itself or the metadata service of its cloud, whatever addresses its host name resolves to.
 */
import t from 'tap'
import { Fault } from '../../runtime/platform/fault.ts'
import { openPlant } from '../support/access-remotes.ts'
import { rejectsWith } from '../support/assertions.ts'
import { startGitHost } from '../support/git-host.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { createPermits, createResolveHost } from '../../runtime/git/remote/network.ts'

const usual = { allowPrivate: true, allowed: [], refused: ['10.96.0.1'] }

void t.test('loopback, link-local, multicast and API server addresses are refused in every spelling', async (t) => {
  const permits = createPermits(usual)
  const refused = [
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '10.96.0.1',
    '100.100.100.200',
    '::',
    '::1',
    'fe80::1',
    'ff02::1',
    'fd00:ec2::254',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '::7f00:1',
    '0:0:0:0:0:ffff:7f00:1',
    '::ffff:0:7f00:1',
    '64:ff9b:1::7f00:1',
    '64:ff9b::a83f:8110',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    '168.63.129.16',
    'fd20:ce::254',
    'fd00:c1::a9fe:a9fe',
    'fd00:42::42',
    '192.0.0.192',
    'not an address',
  ]
  for (const address of refused) t.notOk(permits(address), address)
  for (const address of [
    '10.0.0.7',
    '192.168.1.1',
    '172.16.0.1',
    '100.64.0.1',
    'fd12::1',
    '140.82.121.3',
    '2606:50c0::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '198.18.0.1',
  ])
    t.ok(permits(address), address)
  const strict = createPermits({ ...usual, allowPrivate: false, allowed: ['10.1.0.0/16', '127.0.0.1'] })
  for (const address of ['10.0.0.7', '192.168.1.1', 'fd12::1', 'fec0::1', '198.18.0.1', '::ffff:10.0.0.7', '64:ff9b::a00:7', '127.0.0.2'])
    t.notOk(strict(address), address)
  for (const address of ['10.1.2.3', '127.0.0.1', '140.82.121.3']) t.ok(strict(address), address)
})

void t.test('a host name is checked by its addresses, and git connects to the checked ones', async (t) => {
  if (!requires(t, 'git')) return
  const host = await startGitHost(temporaryFolder(t, 'addresses'))
  t.teardown(async () => host.stop())
  const commit = host.repository('plant.git').commit({ a: '1' })
  const resolve = createResolveHost(usual)
  const { ask } = openPlant(t, {}, { resolve, proxy: undefined })
  for (const name of ['127.0.0.1', 'localhost'])
    t.equal(
      await ask({ repo: `http://${name}:${host.port}/plant.git/.git` }),
      `RepositoryNotAllowed: "${name}" has an address that this installation does not permit (source.allowedAddresses)`,
    )
  t.strictSame(host.requests, [])
  await rejectsWith(
    t,
    resolve('nowhere.invalid', AbortSignal.timeout(20_000)),
    new Fault('GitHostUnknown', 'the host name "nowhere.invalid" cannot be resolved'),
  )
  // A name that does not resolve reaches the address that was found for it.
  const pinned = openPlant(t, {}, { resolve: async () => ['127.0.0.1'], proxy: undefined })
  t.equal(await pinned.ask({ repo: `http://git.example:${host.port}/plant.git/.git` }), commit)
  const allowed = openPlant(t, {}, { resolve: createResolveHost({ ...usual, allowed: ['127.0.0.1'] }), proxy: undefined })
  t.equal(await allowed.ask({ repo: host.url('plant.git/.git') }), commit)
})
