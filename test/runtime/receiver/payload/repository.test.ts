/**
 * Tests which repository a webhook body names, and whether it is the followed one.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import type { NamedRepository } from '../../../../runtime/receiver/payload/parts.ts'
import { isRepository, repositoryIn } from '../../../../runtime/receiver/payload/repository.ts'
import { SyncIndex } from '../../../../runtime/receiver/request/sync-index.ts'
import { sharedData } from '../../../support/requires.ts'

/** The index of GatewaySyncs finds every repository that is the same. */
function isSameRepository(repository: NamedRepository, url: string): boolean {
  const isSame = isRepository(url)(repository)
  const index = new SyncIndex()
  index.set('plant', { keySource: '', repository: url })
  if (isSame) t.strictSame([...index.following([repository])], ['plant'], url)
  return isSame
}

const named = (...urls: string[]) => ({ urls, path: undefined, ignoresCase: true })

void t.test('different URLs of one repository are recognized as the same repository', async (t) => {
  const groups = [
    [
      'https://github.com/Plant/config.git',
      'https://github.com/plant/config',
      'https://github.com/plant/config/',
      'https://www.github.com/plant/config',
      'https://user@github.com/plant/config.git',
      'git@github.com:plant/config.git',
      'ssh://git@github.com/plant/config',
      'ssh://git@ssh.github.com:443/plant/config.git',
      'git://github.com/plant/config.git',
    ],
    [
      'https://dev.azure.com/acme/Plant%20A/_git/config',
      'https://acme@dev.azure.com/acme/Plant%20A/_git/config',
      'git@ssh.dev.azure.com:v3/acme/Plant%20A/config',
      'https://acme.visualstudio.com/DefaultCollection/Plant%20A/_git/config',
      'acme@vs-ssh.visualstudio.com:v3/acme/Plant%20A/config',
    ],
    ['https://dev.azure.com/acme/config/_git/config', 'https://dev.azure.com/acme/_git/config'],
    [
      'https://bitbucket.example/scm/plant/config.git',
      'https://bitbucket.example/projects/PLANT/repos/config/browse',
      'ssh://git@bitbucket.example:7999/plant/config.git',
    ],
    ['https://bitbucket.example/scm/~ann/config.git', 'https://bitbucket.example/users/ann/repos/config'],
    ['https://git.example:443/plant/config.git', 'https://git.example/plant/config', 'http://git.example:3000/plant/config'],
  ]
  for (const [index, group] of groups.entries()) {
    for (const one of group) {
      for (const other of group) t.ok(isSameRepository(named(one), other), `${one} is ${other}`)
      for (const other of groups.filter((_group, place) => place !== index).flat())
        t.notOk(isSameRepository(named(one), other), `${one} is not ${other}`)
    }
  }
})

void t.test('another owner, name, host or port is another repository', async (t) => {
  const own = 'https://git.example:8443/plant/config.git'
  const rows: [string, boolean][] = [
    ['https://git.example:8443/plant/config', true],
    ['https://git.example:9443/plant/config', false],
    ['https://git.example/plant/config', false],
    ['https://git2.example:8443/plant/config', false],
    ['https://git.example:8443/plant/config2', false],
    ['https://git.example:8443/plants/config', false],
    ['ssh://git@git.example:7999/plant/config.git', true],
    ['ssh://git@git.example:7999/other/config.git', false],
  ]
  for (const [url, expected] of rows) t.equal(isSameRepository(named(url), own), expected, url)
  const both = named('https://git.example:9443/plant/config.git', 'ssh://git@git.example/plant/config.git')
  t.notOk(isSameRepository(both, own), 'where a URL of the same protocol is named, that one counts')
  const cased = { ...named('https://git.example:8443/Plant/config'), ignoresCase: false }
  t.notOk(isSameRepository(cased, own), 'upper and lower case differ at a host that is not known')
  t.ok(isSameRepository({ ...named('https://github.com/Plant/Config'), ignoresCase: false }, 'git@github.com:plant/config.git'))
  t.ok(isSameRepository({ urls: [], path: 'PLANT/config', ignoresCase: true }, 'https://bitbucket.example/scm/plant/config.git'))
  t.notOk(isSameRepository({ urls: [], path: 'PLANT/other', ignoresCase: true }, 'https://bitbucket.example/scm/plant/config.git'))
  t.ok(isSameRepository(named('https://git.example/plant'), '/srv/git/plant'), 'a folder of this machine is compared with nothing')
})

void t.test('the push body of every supported host names its repository', async (t) => {
  const index = sharedData(t, 'webhooks/index.json')
  if (index === undefined) return
  const deliveries = JSON.parse(readFileSync(index, 'utf8')) as { file: string; host: string; kind: string }[]
  for (const { file, host, kind } of deliveries.filter(({ kind }) => kind.startsWith('push-') || kind === 'release-published')) {
    const body: unknown = JSON.parse(readFileSync(path.join(path.dirname(index), file), 'utf8'))
    // This sample does not include its repository.
    if (file === 'azuredevops-git-push-5.json') continue
    const repository = repositoryIn(body, { ignoresCase: true })
    t.ok((repository?.urls.length ?? 0) > 0 || repository?.path !== undefined, `${file} of ${host}, ${kind}`)
    for (const url of repository?.urls ?? [])
      t.ok(isSameRepository({ urls: repository?.urls ?? [], path: undefined, ignoresCase: true }, url), url)
  }
})

void t.test('the default branch is read from a body if the host sends it', async (t) => {
  const [url, id] = ['https://git.example/plant.git', { ignoresCase: true }]
  const rows: [object, string | undefined][] = [
    [{ repository: { clone_url: url, default_branch: 'main' } }, 'main'],
    [{ project: { web_url: url, default_branch: 'dev' }, repository: { url } }, 'dev'],
    [{ resource: { repository: { remoteUrl: url, defaultBranch: 'refs/heads/main' } } }, 'refs/heads/main'],
    [{ repository: { clone_url: url, default_branch: '' } }, undefined],
    [{ repository: { clone_url: url, default_branch: { name: 'main' } } }, undefined],
  ]
  for (const [body, expected] of rows) t.equal(repositoryIn(body, id)?.defaultBranch, expected, JSON.stringify(body))
})

void t.test('the repository of a body is read from the member of its host', async (t) => {
  const url = 'https://git.example/plant/config.git'
  const of = (urls: string[], path?: string): object => ({ urls, path, ignoresCase: false })
  const members =
    `clone_url ssh_url git_url git_http_url git_ssh_url http_url http_url_to_repo ssh_url_to_repo html_url web_url homepage url
    remoteUrl sshUrl webUrl`.split(/\s+/)
  const rows: [body: unknown, expected: object | undefined][] = [
    ...members.map((member): [object, object] => [{ repository: { [member]: url } }, of([url])]),
    [{ project: { web_url: url } }, of([url])],
    [{ repo: { url } }, of([url])],
    [{ resource: { repository: { url } } }, of([url])],
    [{ repository: { url }, project: { web_url: 'git@git.example:plant/config' } }, of([url, 'git@git.example:plant/config'])],
    [{ repository: { links: { self: [{ href: url }], clone: [{ href: 'ssh://git.example/a/b' }] } } }, of([url, 'ssh://git.example/a/b'])],
    [{ repository: { links: { html: { href: url } } } }, of([url])],
    [{ repository: { full_name: 'plant/config' } }, of([], 'plant/config')],
    [{ project: { path_with_namespace: 'plant/config' } }, of([], 'plant/config')],
    [{ repository: { slug: 'config', project: { key: 'PLANT' }, full_name: 'a/b' } }, of([], 'PLANT/config')],
    [{ repository: { slug: 'config', full_name: 'a/b' } }, of([], 'a/b')],
    [{ repository: { project: { key: 'PLANT' }, full_name: 'a/b' } }, of([], 'a/b')],
    [{ repository: { name: 'a' }, project: { path_with_namespace: 'a/b' } }, of([], 'a/b')],
    [{ repository: { full_name: 'config' } }, undefined],
    [{ repository: { url: 'https://api.git.example/repos/plant/config' } }, undefined],
    [{ repository: { url: 'https://git.example/plant/_apis/git/repositories/1' } }, undefined],
    [{ repository: { url: 'https://git.example/api/v1/repos/plant/config' } }, undefined],
    [{ repository: { url: 'https://git.example/plant/api' } }, of(['https://git.example/plant/api'])],
    [{ repository: { url: 'ftp://git.example/plant/config' } }, undefined],
    [{ repository: { url: 'file:///plant/config' } }, undefined],
    [{ repository: { url: 'ssh:///plant/config' } }, undefined],
    [{ repository: { url: 'plant' } }, undefined],
    [{ repository: url }, undefined],
    [{}, undefined],
    [null, undefined],
  ]
  for (const [body, expected] of rows) t.strictSame(repositoryIn(body, { ignoresCase: false }), expected, JSON.stringify(body))
  t.strictSame(repositoryIn({ repository: { url } }, { ignoresCase: true }), { ...of([url]), ignoresCase: true })
})

void t.test('URLs are compared by protocol, host, port and path', async (t) => {
  const rows: [one: string, other: string, isSame: boolean][] = [
    ['https://git.example/a/b', 'https://git.example:443/a/b', true],
    ['http://git.example/a/b', 'http://git.example:80/a/b', true],
    ['ssh://git.example/a/b', 'ssh://git@git.example:22/a/b', true],
    ['git://git.example/a/b', 'git://git.example:9418/a/b', true],
    ['ssh://git.example:2222/a/b', 'ssh://git.example/a/b', false],
    ['git@git.example:a/b', 'git.example:a/b', true],
    ['git@git.example:a/b', 'ssh://git.example/a/b', true],
    ['git@git.example:/a/b', 'ssh://git.example/a/b', true],
    ['https://GIT.example/a/b', 'https://git.example/a/b', true],
    ['https://git.example//a///b/', 'https://git.example/a/b', true],
    ['https://git.example/a/b.GIT', 'https://git.example/a/b', true],
    ['https://git.example/a.git/b', 'https://git.example/a/b', false],
    ['https://git.example/a/b.git2', 'https://git.example/a/b', false],
    ['https://git.example/a/b.gitx', 'https://git.example/a/bx', false],
    ['https://git.example/a%20b/c', 'https://git.example/a b/c', true],
    ['https://git.example/a%ZZ/c', 'https://git.example/a%ZZ/c', true],
    ['https://git.example/a%ZZ/c', 'https://git.example/c', false],
    ['https://www.github.com/a/b', 'ssh://git@ssh.github.com:443/a/b', true],
    ['https://gitlab.com/a/b', 'ssh://git@altssh.gitlab.com:443/a/b', true],
    ['https://bitbucket.org/a/b', 'ssh://git@altssh.bitbucket.org:443/a/b', true],
    ['https://dev.azure.com/a/b/_git/c', 'git@ssh.dev.azure.com:v3/a/b/c', true],
    ['https://dev.azure.com/a/b/_git/c', 'git@vs-ssh.visualstudio.com:v3/a/b/c', true],
    ['https://dev.azure.com/a/b/_git/c', 'https://a.visualstudio.com/b/_git/c', true],
    ['https://dev.azure.com/a/b/_git/c', 'https://x.a.visualstudio.com/b/_git/c', false],
    ['https://dev.azure.com/a/b/_git/c', 'https://dev.azure.com/a/b/_git/d', false],
    ['https://dev.azure.com/a/b/_git/c', 'https://dev.azure.com/x/b/_git/c', false],
    ['https://git.example/projects/A/repos/b', 'https://git.example/scm/A/b', true],
    ['https://git.example/ctx/projects/A/repos/b/browse', 'https://git.example/ctx/scm/A/b', true],
    ['https://git.example/users/a/repos/b', 'https://git.example/scm/~a/b', true],
    ['https://git.example/users/a/repos/b', 'https://git.example/scm/a/b', false],
    ['https://git.example/projects/A/other/b', 'https://git.example/A/b', false],
    ['https://git.example/xprojects/A/repos/b', 'https://git.example/A/b', false],
    ['https://git.example/projectsx/A/repos/b', 'https://git.example/A/b', false],
    ['https://git.example/scm/x/A/b', 'https://git.example/A/b', false],
  ]
  for (const [one, other, isSame] of rows) {
    t.equal(isSameRepository({ urls: [one], path: undefined, ignoresCase: false }, other), isSame, `${one}, ${other}`)
    t.equal(isSameRepository({ urls: [other], path: undefined, ignoresCase: false }, one), isSame, `${other}, ${one}`)
  }
  for (const host of ['github.com', 'gitlab.com', 'bitbucket.org', 'dev.azure.com', 'codeberg.org', 'gitee.com'])
    t.ok(isSameRepository({ urls: [`https://${host}:8443/A/B`], path: undefined, ignoresCase: false }, `https://${host}/a/b`), host)
})

void t.test('a body with a path alone is compared by the last two segments', async (t) => {
  const rows: [path: string | undefined, ignoresCase: boolean, isSame: boolean][] = [
    ['plant/config', false, true],
    ['plant/config.git', false, true],
    ['plant/config.git.git', false, false],
    ['Plant/config', true, true],
    ['Plant/config', false, false],
    ['plant/other', true, false],
    ['group/plant/config', true, false],
    [undefined, false, true],
  ]
  for (const [path, ignoresCase, isSame] of rows)
    t.equal(isSameRepository({ urls: [], path, ignoresCase }, 'https://git.example/group/plant/config.git'), isSame, path ?? 'nothing')
  const both = { urls: ['ssh://git.example/a/b', 'https://git.example/a/b'], path: undefined, ignoresCase: false }
  t.equal(isSameRepository(both, 'https://git.example/a/b'), true, 'one URL of two')
  t.equal(isSameRepository(both, 'git://git.example:1/a/b'), true, 'no URL has the protocol')
})
