import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { anonymousRemote, mirrorKey, readRepository, anonymousAccess } from '../../../../runtime/git/remote/remote.ts'
import { matchObject, throwsError } from '../../../support/assertions.ts'

const options = { allowLocal: false }

void t.test('a mirror is shared only for the same URL with the same credentials', async (t) => {
  const plant = anonymousRemote('https://git.example/victim/plant.git', options)
  t.equal(mirrorKey(plant), mirrorKey(anonymousRemote('https://GIT.example/victim/plant.git', options)), 'a host has no case')
  const others = [
    'https://git.example/victim/plant',
    'https://git.example/Victim/plant.git',
    'https://git.example:443/victim/plant.git',
    'https://git.example/victim/plant.git/',
    'https://git.example/victim//plant.git',
  ]
  const keys = others.map((repo) => mirrorKey(anonymousRemote(repo, options)))
  const identities = ['["a",["s","1","k"]]', '["b",["s","1","k"]]'].map((identity) =>
    mirrorKey({ ...plant, access: { ...anonymousAccess, identity } }),
  )
  t.equal(new Set([mirrorKey(plant), ...keys, ...identities]).size, 1 + others.length + 2)
})

void t.test('a local repository needs allowLocal, and is never read as an option, a host or a program', async (t) => {
  matchObject(t, readRepository('/srv/plant.git', { allowLocal: true }), { text: '/srv/plant.git', protocol: 'file', host: '' })
  matchObject(t, readRepository('file:///srv/plant%20a.git', { allowLocal: true }), { text: '/srv/plant a.git', protocol: 'file' })
  for (const repo of ['', '-x', 'ext::sh -c x', 'ftp://h/x', 'https://u:p@h/x', 'git@h:../x', 'file://elsewhere/x'])
    t.equal(readRepository(repo, { allowLocal: true }), undefined, repo)
  for (const repo of ['/srv/plant.git', 'file:///srv/plant.git']) {
    t.equal(readRepository(repo, options), undefined, repo)
    throwsError(
      t,
      () => anonymousRemote(repo, options),
      new Fault('RepositoryNotAllowed', `"${repo}" is not a repository URL of a permitted kind: https, http, ssh or git@host:path`),
    )
  }
})
