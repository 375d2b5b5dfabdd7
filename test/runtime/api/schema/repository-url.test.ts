import t from 'tap'
import * as v from 'valibot'
import { parseRepositoryUrl } from '../../../../runtime/api/schema/repository-url.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'

const understood: [string, NonNullable<ReturnType<typeof parseRepositoryUrl>>][] = [
  [
    'https://Git.Example/Plant.git',
    { text: 'https://git.example/Plant.git', protocol: 'https', user: undefined, host: 'git.example', port: undefined },
  ],
  [
    'http://git.example:8080/a/b',
    { text: 'http://git.example:8080/a/b', protocol: 'http', user: undefined, host: 'git.example', port: 8080 },
  ],
  [
    'https://[2001:DB8::1]:8443/x',
    { text: 'https://[2001:db8::1]:8443/x', protocol: 'https', user: undefined, host: '2001:db8::1', port: 8443 },
  ],
  ['https://10.0.0.7/x', { text: 'https://10.0.0.7/x', protocol: 'https', user: undefined, host: '10.0.0.7', port: undefined }],
  ['https://h/a%20b/x@5/', { text: 'https://h/a%20b/x@5/', protocol: 'https', user: undefined, host: 'h', port: undefined }],
  [
    'ssh://git@Git.Example:2222/srv/x.git',
    { text: 'ssh://git@git.example:2222/srv/x.git', protocol: 'ssh', user: 'git', host: 'git.example', port: 2222 },
  ],
  ['ssh://git.example/x', { text: 'ssh://git.example/x', protocol: 'ssh', user: undefined, host: 'git.example', port: undefined }],
  ['git@Git.Example:Org/x.git', { text: 'git@git.example:Org/x.git', protocol: 'ssh', user: 'git', host: 'git.example', port: undefined }],
  ['git@10.0.0.7:x', { text: 'git@10.0.0.7:x', protocol: 'ssh', user: 'git', host: '10.0.0.7', port: undefined }],
]

void t.test('parsing a repository URL gives a canonical URL for git, which parses to the same result', async (t) => {
  for (const [text, url] of understood) {
    t.strictSame(parseRepositoryUrl(text), url, text)
    // The URL that git receives parses to the same result.
    t.strictSame(parseRepositoryUrl(url.text), url, url.text)
  }
})

const ambiguous = [
  'https://git.example/victim\\plant.git',
  'https://git.example/attacker/%2e%2e/victim/plant.git',
  'https://git.example/attacker%2Fvictim',
  'https://git.example/attacker%5Cvictim',
  'https://git.example/a%00b',
  'https://git.example/a%zz',
  'https://git.example/a%2',
  'https://git.example/a/../victim',
  'https://git.example/./victim',
  'https://git.example/victim/..',
  'git@git.example:../victim',
  'https://git.example/x#y',
  'https://git.example/x?y',
  'https://git.example/x y',
  'https://git.example/x\ty',
  'https://git.example/x\u0085y',
]

const otherHosts = [
  'ssh://git.example#@127.0.0.1/x',
  'ssh://git.example?@127.0.0.1/x',
  'ssh://git.example\\@127.0.0.1/x',
  'ssh://git.example/@127.0.0.1:x#',
  'https://user@git.example/x',
  'https://user:password@git.example/x',
  'https://git.example:70000/x',
  'https://git.example:0/x',
  'https://git.example:/x',
  'https://127.1/x',
  'https://0x7f000001/x',
  'https://2130706433/x',
  'https://0177.0.0.1/x',
  'https://1.2.3.256/x',
  'https://[::1/x',
  'https://[1.2.3]/x',
  'git@127.1:x',
  'ssh://-oProxyCommand=x/y',
  'ssh://-x@git.example/y',
  'git@-oProxyCommand=x:y',
]

const nothing = [
  '',
  'https://',
  'https://git.example',
  'https://git.example/',
  'HTTPS://git.example/x',
  'git.example:x',
  'ext::sh -c x',
  'a@ext::x',
  'file:///x',
  '/srv/x',
  '-x',
  'ftp://h/x',
  'git@h:',
]

void t.test('a URL that a host, a proxy, curl and ssh could interpret differently is rejected', async (t) => {
  const schema = gatewaySyncSpec({ allowLocal: false })
  const auth = { sshKey: { secretRef: { name: 'a', key: 'b' }, insecureIgnoreHostKey: true } }
  const sync = { profiles: { default: { mappings: [{ source: 'a', destination: 'a' }] } } }
  for (const repo of [...ambiguous, ...otherHosts, ...nothing]) {
    t.equal(parseRepositoryUrl(repo), undefined, repo)
    const withKey = { git: { repo, ref: 'main', ...(repo.startsWith('http') ? {} : { auth }) }, sync }
    t.notOk(v.is(schema, withKey), `the schema refuses ${repo}`)
  }
  for (const [repo, { protocol }] of understood) {
    const spec = { git: { repo, ref: 'main', ...(protocol === 'ssh' ? { auth } : {}) }, sync }
    t.ok(v.is(schema, spec), `the schema accepts ${repo}`)
  }
})
