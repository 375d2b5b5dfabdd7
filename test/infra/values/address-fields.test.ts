/**
 * Which addresses each kind of value accepts.
 */
import * as v from 'valibot'
import t from 'tap'
import { gitHosts, networks, proxyUrl, repository, tag } from '../../../infra/values/address-fields.ts'

const digest = `sha256:${'0'.repeat(32)}`
const rows: Record<string, [schema: v.GenericSchema, accepted: readonly string[], refused: readonly string[], message: string]> = {
  image: [
    repository('what it is', 'a'),
    ['a', 'a/b', 'a.b_c__d-e--f/g', 'registry.example.com/team/name', 'localhost:5000/a', 'Registry/a', '[::1]:5000/a', '[::1]/a'],
    ['', 'A', 'a:1', `a@${digest}`, '/a', 'a/', 'a//b', 'a..b', 'a___b', '-a', 'a-', 'a:x/b', 'a b', '[x]/a', ' a', 'a/B', 'https://a/b'],
    'must be an image without a tag or digest, such as registry.example.com/team/name',
  ],
  tag: [
    tag('what it is', ''),
    ['', '1.2.3', 'v1_2.x', '_', `1@${digest}`, `1@${digest}f`, 't'.repeat(128)],
    [
      '.1',
      '-1',
      `@${digest}`,
      digest,
      `1@sha256:${'0'.repeat(31)}`,
      `1@sha256:${'G'.repeat(32)}`,
      `1@:${'0'.repeat(32)}`,
      't'.repeat(129),
      'a b',
      ' a',
    ],
    'must be empty or a tag such as 1.2.3, optionally with a digest (@sha256:…)',
  ],
  network: [
    networks('what they are'),
    [
      '10.0.0.0',
      '10.0.0.0/0',
      '10.0.0.0/9',
      '10.0.0.0/29',
      '10.0.0.0/32',
      '255.255.255.255',
      '::',
      '::1/128',
      '2001:DB8::/32',
      '::FFFF:192.0.2.1',
      '::/0',
      '::/99',
      '::/119',
      'fe80::1',
    ],
    [
      '',
      '10.0.0',
      '10.0.0.256',
      '10.0.0.0/33',
      '10.0.0.0/40',
      '10.0.0.0/',
      '::/129',
      '::/130',
      '::/200',
      'fe80::1%eth0',
      'proxy',
      ' ::1',
      '::1 ',
      '1::2::3',
      '10.0.0.0/08/8',
    ],
    'must be an IP address, or a network such as 10.0.0.0/8',
  ],
  'git host': [
    gitHosts('what they are'),
    ['a', 'git', 'a.example.com', 'a_b-c', '10.0.0.1', '[::1]', '[2001:db8::1]'],
    ['', 'A', 'a:22', 'https://a', '*.a', '-a', 'a-', 'a.', '.a', '[x]', '[]', '::1', 'a b', ' a', '[::1]x'],
    'must be a host name in lower case, without a scheme, port or wildcard',
  ],
  proxy: [
    proxyUrl('what it is'),
    ['', 'http://a', 'https://a', 'http://a.b-C:3128', 'http://a:3128/', 'http://[::1]:3128', 'http://a:65535'],
    [
      'a',
      'ftp://a',
      'http://',
      'http://-a',
      'http://u:p@a',
      'http://a:0',
      'http://a:',
      'http://a:100000',
      'http://a/b',
      'xhttp://a',
      'http://[x]',
      'http://a b',
    ],
    'must be empty or http(s)://host:port without a user or password',
  ],
}

for (const [name, [schema, accepted, refused, message]] of Object.entries(rows)) {
  const isList = name === 'network' || name === 'git host'
  const parse = (value: string) => v.safeParse(schema, isList ? [value] : value)
  void t.test(name, async (t) => {
    for (const value of accepted) t.equal(parse(value).success, true, `${JSON.stringify(value)} is accepted`)
    for (const value of refused)
      t.strictSame(
        parse(value).issues?.map((issue) => issue.message),
        [message],
        `${JSON.stringify(value)} is refused`,
      )
  })
}

void t.test('where nothing is written, a list is empty, a text too, and an image is the default', async (t) => {
  t.strictSame([v.parse(networks(''), undefined), v.parse(gitHosts(''), undefined)], [[], []])
  t.strictSame(
    [v.parse(tag('', '1.2'), undefined), v.parse(proxyUrl(''), undefined), v.parse(repository('', 'a/b'), undefined)],
    ['1.2', '', 'a/b'],
  )
})
