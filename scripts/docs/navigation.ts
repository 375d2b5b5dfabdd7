/**
 * The pages of the site, grouped by audience and in reading order. The build fails when a page is missing here.
 */

/** A page by its place in the repository; its own heading is its name in the list, unless another is given. */
export type Entry = string | readonly [page: string, name: string]
export type Group = { readonly name: string; readonly pages: readonly Entry[] }

export const startPage = 'README.md'

export const groups: readonly Group[] = [
  { name: 'Start here', pages: [[startPage, 'Overview'], 'docs/explanation/comparison.md'] },
  { name: 'Tutorials', pages: pagesOf('tutorials', 'one-machine', 'kubernetes', 'plant-engineer', 'platform-engineer', 'cdk8s') },
  {
    name: 'Install',
    pages: pagesOf('how-to', 'standalone', 'install', 'gateways', 'api-key', 'registries', 'check', 'proxy', 'service-meshes'),
  },
  { name: 'Daily work', pages: pagesOf('how-to', 'fleet', 'rollback', 'rollout', 'capture', 'pipelines', 'modes', 'status-page') },
  { name: 'Operate', pages: pagesOf('how-to', 'notifications', 'signatures', 'troubleshooting', 'runbook') },
  {
    name: 'Git hosts',
    pages: pagesOf('how-to/git-hosts', 'README', 'ssh', 'github', 'gitlab', 'gitea', 'bitbucket', 'azure-devops'),
  },
  { name: 'Webhooks', pages: pagesOf('how-to/webhooks', 'set-up', 'hosts', 'README') },
  {
    name: 'Reference',
    pages: [...pagesOf('reference', 'commands', 'fields', 'values', 'rules', 'sync', 'operations', 'sizing'), 'CHANGELOG.md'],
  },
  { name: 'Explanation', pages: pagesOf('explanation', 'security') },
  {
    name: 'Development',
    pages: [
      ...pagesOf('development', 'architecture', 'benchmarks', 'mutation-testing', 'support', 'roadmap', 'governance'),
      'CONTRIBUTING.md',
      ['SECURITY.md', 'Report a vulnerability'],
    ],
  },
]

function pagesOf(folder: string, ...names: readonly string[]): readonly string[] {
  return names.map((name) => `docs/${folder}/${name}.md`)
}
