/**
 * Which test runs the commands of which page: a page with commands that is in no row fails, and so does a row without such a page.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { textsIn } from './support/page.ts'

const root = path.resolve(import.meta.dirname, '..')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'infra/README.md',
  'scripts/package/cli/README.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => path.join('docs', name)),
].filter((name) => name.endsWith('.md'))

/** `by`: what runs the commands as they stand on the page; `left`: those that it does not run, and why. */
type Row = { by?: string; left?: string }

const gitHosts = {
  by: 'test/docs-git-hosts.component.test.ts',
  left: 'kubectl describe: the test has no API server, and makes the Secrets of kubectl create as folders',
}
const webhooks = { by: 'test/runtime/receiver/behaviour/docs.component.test.ts' }

const rows: Readonly<Record<string, Row>> = {
  'README.md': { left: 'npm start and npm test: the second is this suite, the first goes on until Ctrl-C and installs packages first' },
  'CONTRIBUTING.md': { left: 'system-packages.sh and npm run check: CI begins with them' },
  'scripts/package/cli/README.md': { left: 'test/command-line-package installs the package too, offline and below a folder of its own' },
  'docs/api-key.md': { left: 'a key is made in the pages of a real gateway' },
  'docs/gateways.md': { by: 'test/e2e/node/cases/install.ts' },
  'docs/git-hosts/README.md': gitHosts,
  'docs/git-hosts/azure-devops.md': gitHosts,
  'docs/git-hosts/bitbucket.md': gitHosts,
  'docs/git-hosts/gitea.md': gitHosts,
  'docs/git-hosts/github.md': gitHosts,
  'docs/git-hosts/gitlab.md': gitHosts,
  'docs/git-hosts/ssh.md': gitHosts,
  'docs/install.md': {
    by: 'test/integration/install-docs.test.ts',
    left: 'docker and npm: there is no container engine, and the packages of the checkout serve; Helm and the own app by helm.test.ts and test/infra/package.test.ts',
  },
  'docs/modes.md': { by: 'test/docs-modes.component.test.ts' },
  'docs/notifications.md': { left: 'kubectl create secret, whose files hold what a git host or receiver gave' },
  'docs/operations.md': {
    left: 'an operator with this history is wanted; docs-runbook.test.ts holds verbs, kinds and names of the same commands',
  },
  'docs/pipelines.md': { by: 'test/pipelines.component.test.ts' },
  'docs/proxy.md': {
    by: 'test/docs-proxy.component.test.ts',
    left: 'kubectl create secret: the test compares names, keys and contents with the files of the other way; docs-git-hosts uses them',
  },
  'docs/rollback.md': { left: 'the commit is that of the reader; the tutorial reverts one' },
  'docs/rollout.md': { left: 'the commit is that of the reader' },
  'docs/runbook.md': {
    by: 'test/docs-runbook.test.ts',
    left: 'its commands are compared with verbs, kinds and names that exist, not run: each wants an operator in that trouble',
  },
  'docs/signatures.md': { left: 'keys of a person, with a passphrase that is asked for' },
  'docs/standalone.md': {
    left: 'another data directory and gateway stand in test/examples/systemd and the tutorial; the package is installed by test/command-line-package',
  },
  'docs/status-page.md': { left: 'the data directory is that of the reader; port-forward wants a Service with a pod' },
  'docs/tutorial.md': { by: 'test/tutorial.component.test.ts' },
  'docs/webhooks/README.md': { left: 'the address is that of the reader; set-up.md, with the same command, is run' },
  'docs/webhooks/azure-devops.md': webhooks,
  'docs/webhooks/bitbucket.md': webhooks,
  'docs/webhooks/forgejo.md': webhooks,
  'docs/webhooks/gitea.md': webhooks,
  'docs/webhooks/gitee.md': webhooks,
  'docs/webhooks/github.md': webhooks,
  'docs/webhooks/gitlab.md': webhooks,
  'docs/webhooks/gogs.md': webhooks,
  'docs/webhooks/harness.md': webhooks,
  'docs/webhooks/set-up.md': { by: 'test/docs-webhook-set-up.component.test.ts' },
}

void t.test('every page with commands is run by a test, or says why not', async (t) => {
  const withCommands = pages.filter((page) => ['sh', 'bash', 'console'].some((language) => textsIn(page, language).length > 0))
  t.same(Object.keys(rows).toSorted(), withCommands.toSorted())
})

void t.test('each test that is named is there and reads the page', async (t) => {
  for (const [page, { by, left }] of Object.entries(rows)) {
    t.ok(by !== undefined || left !== undefined, page)
    if (by === undefined) continue
    const text = readFileSync(path.join(root, by), 'utf8')
    t.ok(
      [page, path.basename(page), path.dirname(page)].some((name) => text.includes(name)),
      `${by} names ${page}`,
    )
  }
})
