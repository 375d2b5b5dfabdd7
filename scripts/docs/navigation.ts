/**
 * The pages of the site, grouped by who reads them and in the order in which they are read. The build fails when a page is missing here.
 */

/** A page by its place in the repository; its own heading is its name in the list, unless another is given. */
export type Entry = string | readonly [page: string, name: string]
export type Group = { readonly name: string; readonly pages: readonly Entry[] }

export const startPage = 'README.md'

export const groups: readonly Group[] = [
  { name: 'Start here', pages: [[startPage, 'Overview'], 'docs/tutorial.md', 'docs/comparison.md'] },
  {
    name: 'Daily work',
    pages: [
      'docs/fleet.md',
      'docs/rollback.md',
      'docs/rollout.md',
      'docs/capture.md',
      'docs/pipelines.md',
      'docs/modes.md',
      'docs/status-page.md',
      'docs/notifications.md',
      'docs/troubleshooting.md',
    ],
  },
  {
    name: 'Install and run',
    pages: [
      'docs/standalone.md',
      'docs/install.md',
      'docs/gateways.md',
      'docs/api-key.md',
      'docs/check.md',
      'docs/signatures.md',
      'docs/security.md',
      'docs/proxy.md',
      'docs/service-meshes.md',
      'docs/operations.md',
      'docs/dashboards.md',
      'docs/runbook.md',
    ],
  },
  {
    name: 'Git hosts',
    pages: [
      'docs/git-hosts/README.md',
      'docs/git-hosts/ssh.md',
      'docs/git-hosts/github.md',
      'docs/git-hosts/gitlab.md',
      'docs/git-hosts/gitea.md',
      'docs/git-hosts/bitbucket.md',
      'docs/git-hosts/azure-devops.md',
    ],
  },
  {
    name: 'Webhooks',
    pages: [
      'docs/webhooks/set-up.md',
      ['docs/webhooks/README.md', 'How webhooks work'],
      'docs/webhooks/github.md',
      'docs/webhooks/gitlab.md',
      'docs/webhooks/gitea.md',
      'docs/webhooks/forgejo.md',
      'docs/webhooks/gogs.md',
      'docs/webhooks/gitee.md',
      'docs/webhooks/bitbucket.md',
      'docs/webhooks/azure-devops.md',
      'docs/webhooks/harness.md',
    ],
  },
  {
    name: 'Reference',
    pages: ['docs/commands.md', 'docs/fields.md', 'docs/values.md', 'docs/rules.md', 'docs/sync.md', 'CHANGELOG.md'],
  },
  {
    name: 'How it is built',
    pages: ['docs/architecture.md', 'docs/choices.md', 'docs/performance.md', 'CONTRIBUTING.md', ['SECURITY.md', 'Report a weakness']],
  },
]
