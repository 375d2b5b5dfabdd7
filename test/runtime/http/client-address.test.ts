/**
 * The address that counts as the caller of a request.
 */
import t from 'tap'
import { createPeers } from '../../../runtime/http/client-address.ts'
import { throwsError } from '../../support/assertions.ts'

void t.test('the caller is the last address that is not a trusted proxy; a /64 of IPv6 counts as one', async (t) => {
  const peers = createPeers(['10.0.0.0/8', 'fd00::/8', '192.0.2.1'])
  const rows: [string, string | undefined, string | undefined, string][] = [
    ['a stranger', '203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['IPv4 in IPv6', '::ffff:203.0.113.7', undefined, '203.0.113.7'],
    ['behind a proxy', '10.1.1.1', '203.0.113.7', '203.0.113.7'],
    ['behind a proxy that is mapped', '::ffff:10.1.1.1', '203.0.113.7', '203.0.113.7'],
    ['behind two', '10.1.1.1', '198.51.100.1, 203.0.113.7, 192.0.2.1', '203.0.113.7'],
    ['a proxy by itself', '10.1.1.1', undefined, '10.1.1.1'],
    ['nonsense from a proxy', '10.1.1.1', '203.0.113.7, unknown', '10.1.1.1'],
    ['only proxies', '10.1.1.1', '10.2.2.2', '10.1.1.1'],
    ['IPv6', '2001:db8:0:7::1', undefined, '2001:db8:0:7'],
    ['the same network', '2001:0db8::7:ffff:1:2:3', undefined, '2001:db8:0:7'],
    ['behind a proxy in IPv6', 'fd00::1', '2001:db8::1', '2001:db8:0:0'],
    ['no address', undefined, '203.0.113.7', 'unknown'],
  ]
  for (const [name, remote, forwarded, peer] of rows) t.equal(peers.of(remote, forwarded), peer, name)
})

void t.test('an invalid proxy address is rejected by name', async (t) => {
  for (const proxy of ['', 'example.org', '10.0.0.0/33', '10.0.0/8', 'fd00::/129', '::1/x'])
    throwsError(
      t,
      () => createPeers([proxy]),
      { reason: 'InvalidConfiguration', message: `trustedProxies: "${proxy}" is neither an IP address nor address/prefix` },
      proxy,
    )
})
