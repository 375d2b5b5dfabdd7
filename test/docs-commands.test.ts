/**
 * Which test runs which command of which page. A command that stands on a page and in no row fails, and so does a row without its command.
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
  'examples/plant/README.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => path.join('docs', name)),
].filter((name) => name.endsWith('.md'))

/**
 * `every`: the test that carries out whatever the page shows. Else each command stands once: behind the test that runs it, or in `left` with the
 * reason why none does.
 */
type Row = { every?: string; by?: Readonly<Record<string, readonly string[]>>; left?: Readonly<Record<string, string>> }

const secrets = 'test/docs-secrets.component.test.ts'
const run = 'test/docs-run.component.test.ts'
const fleet = 'test/integration/fleet.test.ts'
const gitHost = 'test/docs-git-hosts.component.test.ts'
const cliPackage = 'test/command-line-package.component.test.ts'
const installPage = 'test/integration/install-docs.test.ts'
const helm = 'test/integration/helm.test.ts'
const webhook = { every: 'test/runtime/receiver/behaviour/docs.component.test.ts' }
const runHere = 'npx --no -- cluster-sync run -f plant.yaml --data /usr/local/bin/ignition/data --secrets secrets'
const logs = 'there is no kubelet; test/e2e/node reads logs of pods'

const rows: Readonly<Record<string, Row>> = {
  'README.md': { by: { 'test/quickstart.component.test.ts': ['npm start'] }, left: { 'npm test': 'it is this suite' } },
  'CONTRIBUTING.md': {
    left: { 'bash scripts/system-packages.sh': '.ci/run begins with it', 'npm run check': 'npm test runs the same gates' },
  },
  'scripts/package/cli/README.md': {
    by: { [cliPackage]: ['npm install --global ./cluster-sync-operator-cli-*.tgz', 'cluster-sync --help'] },
  },
  'docs/api-key.md': {
    by: {
      [run]: [
        'npx --no -- cluster-sync run -f gatewaysync.yaml --data /usr/local/bin/ignition/data --gateway https://localhost:8043 --api-key-file gateway-api-key',
      ],
    },
  },
  'docs/gateways.md': { every: 'test/e2e/node/cases/install.ts' },
  'docs/install.md': {
    by: {
      [installPage]: [
        'npx cdk8s synth',
        'kubectl apply -f dist/',
        'kubectl -n cluster-sync rollout status deployment/cluster-sync-operator',
        'kubectl apply --server-side -f dist/',
        'CLUSTER_SYNC_VALUES=my-values.yaml npx cdk8s synth',
        'CLUSTER_SYNC_VALUES=examples/production.ts npx cdk8s synth',
        'kubectl delete --ignore-not-found -f dist/operator.k8s.yaml',
        'kubectl delete rolebinding --all-namespaces --selector app.kubernetes.io/managed-by=cluster-sync-operator',
        'kubectl delete -f dist/crds.k8s.yaml',
      ],
      [helm]: [
        'helm install cluster-sync-operator dist/chart --namespace cluster-sync --create-namespace',
        'helm upgrade cluster-sync-operator dist/chart --namespace cluster-sync --set replicaCount=2 --set-string controller.logDevMode=true',
        'helm upgrade --install cluster-sync-operator dist/cluster-sync-operator-0.1.0.tgz --namespace cluster-sync --create-namespace --values examples/helm-values.yaml',
        'kubectl apply --server-side --force-conflicts -f dist/chart/crds/',
        'npm run chart',
      ],
      'test/infra/package.test.ts': [
        'npm run package:infra',
        'npm install ../cluster-sync-operator/build/cluster-sync-operator-infra-0.1.0.tgz',
      ],
    },
    left: {
      'npm ci': 'the packages of the checkout serve; the gate installs them first',
      'npm run images -- --repository registry.example.com/clustersync': 'test/images builds them with another base: no registry is asked',
      'docker push registry.example.com/clustersync/controller:0.1.0': 'there is no registry',
      'docker push registry.example.com/clustersync/agent:0.1.0': 'there is no registry',
      'docker push registry.example.com/clustersync/cli:0.1.0': 'there is no registry',
    },
  },
  'docs/modes.md': { every: 'test/docs-modes.component.test.ts' },
  'docs/notifications.md': {
    by: {
      [secrets]: [
        'kubectl create secret generic commit-status --namespace plant --from-file=token',
        'kubectl create secret generic duty --namespace cluster-sync --from-file=address --from-file=hmac-key',
      ],
    },
  },
  'docs/operations.md': {
    by: {
      [fleet]: [
        'kubectl get gatewaysyncs,syncreports --all-namespaces',
        'kubectl describe gatewaysync plant --namespace plant',
        'kubectl wait gatewaysync/plant --namespace plant --for=condition=Ready --timeout=60s',
        'kubectl annotate gatewaysync plant --namespace plant --overwrite clustersync.io/requested-ref=v1.4.2 clustersync.io/requested-at="$(date --iso-8601=ns)"',
        "kubectl get gatewaysync plant --namespace plant --output jsonpath='{.status.requests[-1:]}'",
        'kubectl annotate gatewaysync plant --namespace plant clustersync.io/requested-ref-',
      ],
    },
    left: {
      'kubectl logs deployment/cluster-sync-operator --namespace cluster-sync --since=1h | grep \'"requestId":"2f0c8a52\'': logs,
    },
  },
  'docs/pipelines.md': {
    by: {
      [run]: ['cluster-sync plan -f gatewaysync.yaml --base main'],
      'test/pipelines.component.test.ts': [
        'hook=$(git rev-parse --git-path hooks/pre-commit)',
        'test -e "$hook" || { printf \'#!/bin/sh\\nexec cluster-sync lint\\n\' >"$hook"; chmod +x "$hook"; }',
      ],
    },
  },
  'docs/proxy.md': { every: 'test/docs-proxy.component.test.ts' },
  'docs/rollback.md': { by: { [run]: ['git revert 3bb65981', 'git push'] } },
  'docs/rollout.md': {
    by: {
      [fleet]: ['kubectl annotate gatewaysyncs.clustersync.io plant --namespace plant --overwrite clustersync.io/skip-stages=<commit>'],
    },
  },
  'docs/runbook.md': {
    by: {
      [fleet]: [
        'kubectl get gatewaysyncs --all-namespaces',
        'kubectl describe gatewaysync plant --namespace plant',
        'kubectl get syncreports --namespace plant',
        'kubectl describe syncreport gateway-0 --namespace plant',
        'kubectl wait gatewaysync/plant --namespace plant --for=condition=Ready --timeout=120s',
        'kubectl get gatewaysync plant --namespace plant --output jsonpath=\'{range .status.history[*]}{.at} {.outcome} {.commit} {.ref}{"\\n"}{end}\'',
        'kubectl annotate gatewaysync plant --namespace plant --overwrite clustersync.io/requested-ref=v1.4.1 clustersync.io/requested-at="$(date --iso-8601=ns)"',
        'kubectl patch gatewaysync plant --namespace plant --type=merge --patch \'{"spec":{"paused":true}}\'',
      ],
    },
    left: {
      'kubectl logs deployment/cluster-sync-operator --namespace cluster-sync --since=1h': logs,
      'kubectl logs gateway-0 --namespace plant --container cluster-sync-agent --since=1h': logs,
      'kubectl get pod gateway-0 --namespace plant --output jsonpath=\'{.status.initContainerStatuses[?(@.name=="cluster-sync-agent")]}\'':
        'a kubelet alone writes the state of a container',
      'kubectl describe pod gateway-0 --namespace plant': 'a kubelet alone writes Events of containers',
    },
  },
  'docs/signatures.md': {
    by: {
      'test/docs-signatures.component.test.ts': [
        'ssh-keygen -t ed25519 -f release -C release@example.com',
        'git config gpg.format ssh',
        'git config user.signingKey "$PWD/release"',
        'git config commit.gpgSign true',
        "gpg --quick-gen-key 'Release <release@example.com>' ed25519 sign 1y",
        'git config user.signingKey release@example.com',
        'gpg --armor --export release@example.com > release.asc',
      ],
      [secrets]: ['kubectl create secret generic release-keys --namespace plant --from-file=release.pub --from-file=release.asc'],
    },
  },
  'docs/standalone.md': {
    by: {
      [run]: ['npx --no -- cluster-sync run -f gatewaysync.yaml --data /usr/local/bin/ignition/data --gateway http://localhost:8088'],
      [cliPackage]: ['npm install --global ./cluster-sync-operator-cli-0.1.0.tgz', 'cluster-sync --version'],
    },
  },
  'docs/status-page.md': {
    by: {
      [run]: ['npx --no -- cluster-sync run -f gatewaysync.yaml --data /usr/local/bin/ignition/data --status-port 8080'],
    },
    left: { 'kubectl -n cluster-sync port-forward service/cluster-sync-operator-status-page 8444': 'there is no kubelet' },
  },
  'docs/tutorial.md': { every: 'test/tutorial.component.test.ts' },
  'docs/git-hosts/README.md': {
    by: {
      [gitHost]: [
        'kubectl create secret generic git-ca --namespace plant --from-file=ca.crt=plant-ca.crt',
        "kubectl create secret generic git-proxy --namespace plant --from-literal=url='http://user:password@proxy.example.com:3128'",
        'kubectl create secret tls git-client --namespace plant --cert=client.crt --key=client.key',
      ],
    },
    left: { 'kubectl describe gatewaysync plant --namespace plant': 'the same command of operations.md is run' },
  },
  'docs/git-hosts/azure-devops.md': gitHostPage(
    'kubectl create secret generic git --namespace plant --from-file=token=token',
    "ssh-keygen -t rsa -b 4096 -N '' -C cluster-sync -f identity",
    'ssh-keyscan ssh.dev.azure.com > known_hosts',
    'ssh-keygen -l -f known_hosts',
    'kubectl create secret generic git-key --namespace plant --from-file=identity=identity --from-file=known_hosts=known_hosts',
  ),
  'docs/git-hosts/bitbucket.md': gitHostPage(
    'kubectl create secret generic git --namespace plant --from-file=token=token',
    'kubectl create secret generic git-user --namespace plant --from-literal=username=x-bitbucket-api-token-auth --from-file=password=token',
    'kubectl create secret generic git-server --namespace plant --from-literal=username=cluster-sync --from-file=password=token',
  ),
  'docs/git-hosts/gitea.md': gitHostPage(
    'kubectl create secret generic git --namespace plant --from-file=token=token --from-file=ca.crt=plant-ca.crt',
  ),
  'docs/git-hosts/github.md': gitHostPage(
    'kubectl create secret generic git --namespace plant --from-file=token=token',
    "ssh-keygen -t ed25519 -N '' -C cluster-sync -f identity",
    'ssh-keyscan github.com > known_hosts',
    'ssh-keygen -l -f known_hosts',
    'kubectl create secret generic git-key --namespace plant --from-file=identity=identity --from-file=known_hosts=known_hosts',
    'kubectl create secret generic git-app --namespace plant --from-file=key.pem=plant.private-key.pem',
  ),
  'docs/git-hosts/gitlab.md': gitHostPage(
    'kubectl create secret generic git --namespace plant --from-literal=username=gitlab+deploy-token-1 --from-file=password=token',
    'kubectl create secret generic git-token --namespace plant --from-file=token=token',
  ),
  'docs/git-hosts/ssh.md': gitHostPage(
    "ssh-keygen -t ed25519 -N '' -C cluster-sync -f identity",
    'ssh-keyscan git.plant.example > known_hosts',
    'ssh-keygen -l -f known_hosts',
    'kubectl create secret generic git --namespace plant --from-file=identity=identity --from-file=known_hosts=known_hosts',
  ),
  'docs/webhooks/README.md': {
    left: {
      'npx --no -- cluster-sync trigger https://receiver.example/webhook/plants/line-1 --ref main --hmac-secret-file webhook-secret':
        'set-up.md, with the same command, is run',
    },
  },
  'docs/webhooks/azure-devops.md': webhook,
  'docs/webhooks/bitbucket.md': webhook,
  'docs/webhooks/forgejo.md': webhook,
  'docs/webhooks/gitea.md': webhook,
  'docs/webhooks/gitee.md': webhook,
  'docs/webhooks/github.md': webhook,
  'docs/webhooks/gitlab.md': webhook,
  'docs/webhooks/gogs.md': webhook,
  'docs/webhooks/harness.md': webhook,
  'docs/webhooks/set-up.md': {
    by: {
      'test/docs-webhook-set-up.component.test.ts': [
        'openssl rand -hex 32 >webhook-secret',
        'cluster-sync run -f gatewaysync.yaml --data data --receiver-port 9444 --hmac-secret-file webhook-secret',
        'cluster-sync trigger http://localhost:9444/webhook/default/plant --hmac-secret-file webhook-secret',
      ],
      [secrets]: ['kubectl create secret generic webhook --namespace plant --from-file=hmac=webhook-secret'],
    },
  },
}

function gitHostPage(...commands: readonly string[]): Row {
  const isRun = commands.some((command) => command.includes('secret generic git '))
  return { by: { [gitHost]: isRun ? [...commands, runHere] : commands } }
}

/** The commands of a page, each as one line: without comments behind them, and continued lines joined. */
function commandsOf(page: string): string[] {
  const shell = ['sh', 'bash'].flatMap((language) => textsIn(page, language))
  // What stands behind a prompt, between what was printed.
  const prompts = textsIn(page, 'console').flatMap((text) => [...text.matchAll(/^\$ (.*)$/gm)].map(([, command = '']) => command))
  return [...shell.flatMap((text) => text.replaceAll(/\\\n\s*/g, '').split('\n')), ...prompts]
    .map((line) => line.replace(/ +# .*$/, '').trim())
    .filter((line) => line !== '')
}

void t.test('every page with commands has a row', async (t) => {
  t.same(Object.keys(rows).toSorted(), pages.filter((page) => commandsOf(page).length > 0).toSorted())
})

void t.test('every command of a page is run by a test, or it is said why not', async (t) => {
  for (const [page, { every, by = {}, left = {} }] of Object.entries(rows)) {
    if (every !== undefined) continue
    const known = [...Object.values(by).flat(), ...Object.keys(left)]
    t.same([...new Set(known)].toSorted(), [...new Set(commandsOf(page))].toSorted(), page)
  }
})

/** The first reads all pages; the others carry out what pages show in words of their own. */
const readsAll: ReadonlySet<string> = new Set([secrets, cliPackage, 'test/infra/package.test.ts'])

void t.test('each test that is named reads the page, or the commands of all pages', async (t) => {
  for (const [page, { every, by = {} }] of Object.entries(rows)) {
    for (const test of [...(every === undefined ? [] : [every]), ...Object.keys(by)]) {
      const text = readFileSync(path.join(root, test), 'utf8')
      const folder = path.dirname(page)
      const isRead = [page, path.basename(page), ...(folder === 'docs' ? [] : [folder])].some((name) => text.includes(name))
      t.ok(isRead || readsAll.has(test), `${test} names ${page}`)
    }
  }
})
