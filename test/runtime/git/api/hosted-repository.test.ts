/**
 * How the API of each git host names the repository of a clone URL.
 */
import t from 'tap'
import type { StatusProvider } from '../../../../runtime/api/schema/commit-status.ts'
import { parseRepositoryUrl } from '../../../../runtime/api/schema/repository-url.ts'
import { hostedRepository } from '../../../../runtime/git/api/hosted-repository.ts'

/** The API URL, the names in the API, and the web page of the repository. */
const rows: [provider: StatusProvider, url: string, api: string, names: string, page: string][] = [
  ['github', 'https://github.com/plant/line.git', 'https://api.github.com', 'plant|line', 'https://github.com/plant/line'],
  ['github', 'git@github.com:plant/line.git', 'https://api.github.com', 'plant|line', 'https://github.com/plant/line'],
  [
    'github',
    'https://git.plant.example:8443/plant/line',
    'https://git.plant.example:8443/api/v3',
    'plant|line',
    'https://git.plant.example:8443/plant/line',
  ],
  [
    'gitlab',
    'https://gitlab.com/plant/cell/line.git',
    'https://gitlab.com/api/v4',
    'plant/cell/line',
    'https://gitlab.com/plant/cell/line',
  ],
  [
    'gitlab',
    'ssh://git@gitlab.plant.example:2222/plant/line.git',
    'https://gitlab.plant.example/api/v4',
    'plant/line',
    'https://gitlab.plant.example/plant/line',
  ],
  ['gitea', 'https://codeberg.org/plant/line.git', 'https://codeberg.org/api/v1', 'plant|line', 'https://codeberg.org/plant/line'],
  [
    'gitea',
    'https://plant.example/git/plant/line.git',
    'https://plant.example/git/api/v1',
    'plant|line',
    'https://plant.example/git/plant/line',
  ],
  ['bitbucket', 'git@bitbucket.org:plant/line.git', 'https://api.bitbucket.org/2.0', 'plant|line', 'https://bitbucket.org/plant/line'],
  [
    'bitbucketserver',
    'https://git.plant.example/bitbucket/scm/PLANT/line.git',
    'https://git.plant.example/bitbucket/rest/api/latest',
    'PLANT|line',
    'https://git.plant.example/bitbucket/projects/PLANT/repos/line',
  ],
  [
    'bitbucketserver',
    'https://git.plant.example/scm/scm/line.git',
    'https://git.plant.example/rest/api/latest',
    'scm|line',
    'https://git.plant.example/projects/scm/repos/line',
  ],
  [
    'bitbucketserver',
    'ssh://git@git.plant.example:7999/~worker/line.git',
    'https://git.plant.example/rest/api/latest',
    '~worker|line',
    'https://git.plant.example/users/worker/repos/line',
  ],
  [
    'azuredevops',
    'https://dev.azure.com/plant/Line%20One/_git/line',
    'https://dev.azure.com/plant',
    'Line One|line',
    'https://dev.azure.com/plant/Line One/_git/line',
  ],
  [
    'azuredevops',
    'https://dev.azure.com/plant/_git/line',
    'https://dev.azure.com/plant',
    'line|line',
    'https://dev.azure.com/plant/line/_git/line',
  ],
  [
    'azuredevops',
    'git@ssh.dev.azure.com:v3/plant/cell/line',
    'https://dev.azure.com/plant',
    'cell|line',
    'https://dev.azure.com/plant/cell/_git/line',
  ],
  [
    'azuredevops',
    'https://plant.visualstudio.com/cell/_git/line',
    'https://plant.visualstudio.com',
    'cell|line',
    'https://plant.visualstudio.com/cell/_git/line',
  ],
  [
    'azuredevops',
    'https://tfs.plant.example/tfs/Main/cell/_git/line',
    'https://tfs.plant.example/tfs/Main',
    'cell|line',
    'https://tfs.plant.example/tfs/Main/cell/_git/line',
  ],
]

for (const [provider, text, api, names, page] of rows) {
  void t.test(`${provider}: ${text}`, async (t) => {
    const url = parseRepositoryUrl(text)
    if (url === undefined) throw new Error('no URL of a repository')
    t.strictSame(hostedRepository(url, provider, undefined), { api, page, names: names.split('|') })
    t.equal(
      hostedRepository(url, provider, 'https://api.plant.example/base/')?.api,
      'https://api.plant.example/base',
      'apiBaseURL takes its place',
    )
  })
}

void t.test('a URL that does not match the kind of host names no repository', async (t) => {
  const others: [StatusProvider, string][] = [
    ['github', 'https://github.com/plant'],
    ['github', 'https://github.com/plant/line/more'],
    ['gitlab', 'https://gitlab.com/line.git'],
    ['gitea', 'https://codeberg.org/line.git'],
    ['bitbucket', 'https://bitbucket.org/line'],
    ['azuredevops', 'https://dev.azure.com/plant/cell/line'],
  ]
  for (const [provider, text] of others) {
    const url = parseRepositoryUrl(text)
    t.ok(url !== undefined && hostedRepository(url, provider, undefined) === undefined, `${provider}: ${text}`)
  }
})
