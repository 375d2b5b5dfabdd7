/**
 * The test for each command of each page. A command without a row fails, and so does a row without its command.
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
 * `every`: the test that runs all commands of the page. Otherwise each command is listed once: by the test that runs it, or in `left` with
 * the reason why none does.
 */
type Row = { every?: string; by?: Readonly<Record<string, readonly string[]>>; left?: Readonly<Record<string, string>> }

const secrets = 'test/docs-secrets.component.slow.test.ts'
const run = 'test/docs-run.component.slow.test.ts'
const fleet = 'test/integration/fleet.test.ts'
const gitHost = 'test/docs-git-hosts.component.slow.test.ts'
const cliPackage = 'test/command-line-package.component.slow.test.ts'
const installPage = 'test/integration/install-docs.test.ts'
const helm = 'test/integration/helm.test.ts'
const runHere = 'cluster-sync run -f plant.yaml --data /usr/local/bin/ignition/data --secrets secrets'
const pushImages = 'npm run images -- --push registry.example.com/clustersync --values values.yaml'
const pushedElsewhere = 'test/images pushes to a registry of its own, with another base'
const logs = 'there is no kubelet; test/e2e/node reads logs of pods'

const rows: Readonly<Record<string, Row>> = {
  'README.md': {
    by: {
      'test/quickstart.component.slow.test.ts': ['npm start'],
      [cliPackage]: ['npm run package:cli', 'npm install --global ./build/cluster-sync-operator-cli-0.1.0.tgz'],
      [installPage]: ['kubectl apply -f dist/'],
    },
    left: {
      'npm ci': 'the packages of the checkout serve; the gate installs them first',
      [pushImages]: pushedElsewhere,
      ...leftOut(
        'the installation page has the same commands without values of their own, which are run',
        'CLUSTER_SYNC_VALUES=values.yaml npx cdk8s synth',
        'helm install cluster-sync-operator dist/chart --namespace cluster-sync --create-namespace --values values.yaml',
      ),
      'cluster-sync run -f gatewaysync.yaml --data /usr/local/bin/ignition/data --gateway http://localhost:8088':
        'the page of one machine has the same command, which is run',
    },
  },
  'CONTRIBUTING.md': {
    left: { 'bash scripts/system-packages.sh': '.ci/run begins with it', 'npm run check': 'npm test runs the same gates' },
  },
  'scripts/package/cli/README.md': {
    by: { [cliPackage]: ['npm install --global ./cluster-sync-operator-cli-*.tgz', 'cluster-sync --help'] },
  },
  'docs/how-to/api-key.md': {
    by: {
      [run]: [
        'cluster-sync run -f gatewaysync.yaml --data /usr/local/bin/ignition/data --gateway https://localhost:8043 --api-key-file gateway-api-key',
      ],
    },
  },
  'docs/how-to/gateways.md': { every: 'test/e2e/node/cases/install.ts' },
  'docs/how-to/install.md': {
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
        'helm show crds dist/chart | kubectl apply --server-side --force-conflicts -f -',
        'npm run chart',
      ],
    },
    left: {
      'npm ci': 'the packages of the checkout serve; the gate installs them first',
      [pushImages]: pushedElsewhere,
    },
  },
  'docs/how-to/modes.md': { every: 'test/docs-modes.component.test.ts' },
  'docs/how-to/notifications.md': {
    by: {
      [secrets]: [
        'kubectl create secret generic commit-status --namespace plant --from-file=token',
        'kubectl create secret generic duty --namespace cluster-sync --from-file=address --from-file=hmac-key',
      ],
    },
  },
  'docs/reference/operations.md': {
    by: {
      [fleet]: [
        'kubectl annotate gatewaysync plant --namespace plant --overwrite clustersync.io/requested-ref=v1.4.2 clustersync.io/requested-at="$(date -u +%FT%TZ)"',
        "kubectl get gatewaysync plant --namespace plant --output jsonpath='{.status.requests[-1:]}'",
        'kubectl annotate gatewaysync plant --namespace plant clustersync.io/requested-ref-',
      ],
    },
    left: {
      'kubectl logs deployment/cluster-sync-operator --namespace cluster-sync --since=1h | grep \'"requestId":"2f0c8a52\'': logs,
    },
  },
  'docs/how-to/pipelines.md': {
    by: {
      [run]: ['cluster-sync plan -f gatewaysync.yaml --base main'],
      'test/pipelines.component.slow.test.ts': [
        'hook=$(git rev-parse --git-path hooks/pre-commit)',
        'test -e "$hook" || { printf \'#!/bin/sh\\nexec cluster-sync lint\\n\' >"$hook"; chmod +x "$hook"; }',
      ],
    },
  },
  'docs/how-to/proxy.md': { every: 'test/docs-proxy.component.slow.test.ts' },
  'docs/how-to/registries.md': {
    left: {
      ...leftOut(
        'test/support/artifact-registry.ts makes the same artifacts and signatures in a registry of its own',
        'flux push artifact oci://registry.example.com/plants/north:v1.4.0 --path=. --source="$(git config --get remote.origin.url)" --revision="$(git rev-parse HEAD)"',
        'cosign sign --key cosign.key registry.example.com/plants/north:v1.4.0',
      ),
      ...leftOut(
        'the tests of artifacts create Secrets of the same form',
        'kubectl create secret docker-registry registry --namespace plant --docker-server=registry.example.com --docker-username=plant --docker-password="$TOKEN"',
        'kubectl create secret generic cosign --namespace plant --from-file=cosign.pub',
      ),
    },
  },
  'docs/how-to/rollback.md': { by: { [run]: ['git revert 3bb65981', 'git push'] } },
  'docs/how-to/rollout.md': {
    by: {
      [fleet]: ['kubectl annotate gatewaysyncs.clustersync.io plant --namespace plant --overwrite clustersync.io/skip-stages=<commit>'],
    },
  },
  'docs/how-to/runbook.md': {
    by: {
      [fleet]: [
        'kubectl get gatewaysyncs --all-namespaces',
        'kubectl describe gatewaysync plant --namespace plant',
        'kubectl get syncreports --namespace plant',
        'kubectl describe syncreport gateway-0 --namespace plant',
        'kubectl wait gatewaysync/plant --namespace plant --for=condition=Ready --timeout=120s',
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
  'docs/how-to/signatures.md': {
    by: {
      'test/docs-signatures.component.slow.test.ts': [
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
  'docs/how-to/standalone.md': {
    by: {
      [run]: ['cluster-sync run -f gatewaysync.yaml --data /usr/local/bin/ignition/data --gateway http://localhost:8088'],
      [cliPackage]: ['npm install --global ./build/cluster-sync-operator-cli-0.1.0.tgz', 'cluster-sync --version'],
    },
  },
  'docs/how-to/status-page.md': {
    by: {
      [run]: ['cluster-sync run -f gatewaysync.yaml --data /usr/local/bin/ignition/data --status-port 8080'],
      'test/integration/other-clusters.test.ts': [
        'kubectl --context plant-b apply --filename examples/hub-reader.yaml',
        `kubectl --context plant-b --namespace cluster-sync get secret hub --output 'go-template={{index .data "ca.crt" | base64decode}}' > ca.crt`,
        "kubectl --context plant-b --namespace cluster-sync get secret hub --output 'go-template={{.data.token | base64decode}}' > token",
        'kubectl config --kubeconfig hub.kubeconfig set-cluster plant-b --server https://api.plant-b.example.com:6443 --certificate-authority ca.crt --embed-certs',
        'kubectl config --kubeconfig hub.kubeconfig set-credentials hub --token "$(cat token)"',
        'kubectl config --kubeconfig hub.kubeconfig set-context hub --cluster plant-b --user hub',
        'kubectl config --kubeconfig hub.kubeconfig use-context hub',
        'kubectl create secret generic plant-b --namespace cluster-sync --from-file=kubeconfig=hub.kubeconfig',
      ],
    },
    left: { 'kubectl -n cluster-sync port-forward service/cluster-sync-operator-status-page 8444': 'there is no kubelet' },
  },
  'docs/tutorials/kubernetes.md': {
    left: {
      ...leftOut(
        'there is no container engine',
        'kind create cluster --config kind.yaml',
        'npm run images -- --only controller --only agent',
        'kind load docker-image clustersync/controller:0.1.0 clustersync/agent:0.1.0',
        'kubectl exec gateway-0 --namespace plant --container gateway -- grep title /usr/local/bin/ignition/data/projects/line-1/project.json',
        'kind delete cluster',
      ),
      ...leftOut(
        'other pages have the same commands, which are run',
        'npm ci',
        'helm install cluster-sync-operator dist/chart --namespace cluster-sync --create-namespace --set certManager.enabled=false',
        'kubectl rollout status deployment/cluster-sync-operator --namespace cluster-sync',
        'kubectl create namespace plant',
        'kubectl apply -f examples/simulator/gateway.yaml',
        'kubectl apply -f gatewaysync.yaml',
        'kubectl wait gatewaysync/plant --namespace plant --for=condition=Ready --timeout=120s',
        'kubectl get gatewaysyncs,syncreports --namespace plant',
        'kubectl describe gatewaysync plant --namespace plant',
        'bin/cluster-sync.js rollback plant --namespace plant --to "$(git -C ../plant rev-parse HEAD~3)" --wait',
        'bin/cluster-sync.js status plant --namespace plant',
        'bin/cluster-sync.js rollback plant --namespace plant --to main --wait',
      ),
      ...leftOut(
        'the tutorial on one machine has the same steps, which are run',
        'git clone https://git.example.com/you/plant.git ../plant',
        'cp -r examples/plant/services ../plant/',
        'git -C ../plant add .',
        'git -C ../plant commit --message "Add the plant"',
        'git -C ../plant push origin HEAD:main',
        'sed -i \'s/"Line 1"/"Press line"/\' ../plant/services/projects/line-1/project.json',
        'git -C ../plant commit --all --message "Name the press line"',
        'sed -i \'s/"parent": "core"/"parent": "cor"/\' ../plant/services/config/resources/dev/config-mode.json',
        'git -C ../plant commit --all --message "Tidy up"',
        'git -C ../plant revert --no-edit HEAD',
      ),
    },
  },
  'docs/tutorials/plant-engineer.md': { every: run },
  'docs/tutorials/platform-engineer.md': {
    by: {
      [secrets]: ['kubectl create secret generic webhook --namespace cluster-sync --from-file=hmac=webhook-secret'],
    },
    left: {
      [pushImages]: pushedElsewhere,
      ...leftOut(
        'other pages have the same commands, which are run',
        'kubectl create namespace plant',
        'helm install cluster-sync-operator dist/chart --namespace cluster-sync --create-namespace --values values.yaml',
        'openssl rand -hex 32 >webhook-secret',
        'cluster-sync check',
        'kubectl wait gatewaysync/plant --namespace plant --for=condition=Ready --timeout=120s',
      ),
    },
  },
  'docs/tutorials/cdk8s.md': {
    by: {
      'test/infra/package.slow.test.ts': ['npm install ../cluster-sync-operator/build/cluster-sync-operator-infra-0.1.0.tgz cdk8s-plus-28'],
      'test/integration/cdk8s-docs.test.ts': [
        'kubectl create namespace plant',
        'kubectl apply -f dist/crds.k8s.yaml',
        'kubectl wait --for=condition=Established -f dist/crds.k8s.yaml',
        'kubectl apply -f dist/operator.k8s.yaml',
        'openssl rand -hex 32 >webhook-secret',
        'kubectl create secret generic push --namespace cluster-sync --from-file=webhook-secret',
        'kubectl apply -f dist/plant.k8s.yaml',
      ],
    },
    left: leftOut(
      'other pages have the same command, which is run',
      'kubectl wait gatewaysync/plant --namespace plant --for=condition=Ready --timeout=120s',
    ),
  },
  'docs/tutorials/one-machine.md': { every: 'test/tutorial.component.slow.test.ts' },
  'docs/how-to/git-hosts/README.md': {
    by: {
      [gitHost]: [runHere, 'kubectl create secret tls git-client --namespace plant --cert=client.crt --key=client.key'],
    },
    left: { 'kubectl describe gatewaysync plant --namespace plant': 'the same command of runbook.md is run' },
  },
  'docs/how-to/git-hosts/azure-devops.md': gitHostPage('kubectl create secret generic git --namespace plant --from-file=token=token'),
  'docs/how-to/git-hosts/bitbucket.md': gitHostPage(
    'kubectl create secret generic git --namespace plant --from-file=token=token',
    'kubectl create secret generic git-user --namespace plant --from-literal=username=x-bitbucket-api-token-auth --from-file=password=token',
    'kubectl create secret generic git-server --namespace plant --from-literal=username=cluster-sync --from-file=password=token',
  ),
  'docs/how-to/git-hosts/gitea.md': gitHostPage(
    'kubectl create secret generic git --namespace plant --from-file=token=token --from-file=ca.crt=plant-ca.crt',
  ),
  'docs/how-to/git-hosts/github.md': gitHostPage(
    'kubectl create secret generic git --namespace plant --from-file=token=token',
    'kubectl create secret generic git-app --namespace plant --from-file=key.pem=plant.private-key.pem',
  ),
  'docs/how-to/git-hosts/gitlab.md': gitHostPage(
    'kubectl create secret generic git --namespace plant --from-literal=username=gitlab+deploy-token-1 --from-file=password=token',
    'kubectl create secret generic git-token --namespace plant --from-file=token=token',
  ),
  'docs/how-to/git-hosts/ssh.md': gitHostPage(
    "ssh-keygen -t ed25519 -N '' -C cluster-sync -f identity",
    'ssh-keyscan git.plant.example > known_hosts',
    'ssh-keygen -l -f known_hosts',
    'kubectl create secret generic git --namespace plant --from-file=identity=identity --from-file=known_hosts=known_hosts',
  ),
  'docs/how-to/webhooks/set-up.md': {
    by: {
      'test/docs-webhook-set-up.component.slow.test.ts': [
        'openssl rand -hex 32 >webhook-secret',
        'cluster-sync run -f gatewaysync.yaml --data data --receiver-port 9444 --hmac-secret-file webhook-secret',
        'cluster-sync trigger http://localhost:9444/webhook/default/plant --hmac-secret-file webhook-secret',
      ],
      [secrets]: [
        'kubectl create secret generic webhook --namespace cluster-sync --from-file=hmac=webhook-secret',
        'kubectl create secret generic webhook --namespace plant --from-file=hmac=webhook-secret',
      ],
    },
  },
}

/** Several commands that no test runs for the same reason. */
function leftOut(reason: string, ...commands: readonly string[]): Record<string, string> {
  return Object.fromEntries(commands.map((command) => [command, reason]))
}

function gitHostPage(...commands: readonly string[]): Row {
  return { by: { [gitHost]: commands } }
}

/** The commands of a page, one per line: without trailing comments, and with continued lines joined. */
function commandsOf(page: string): string[] {
  const shell = ['sh', 'bash'].flatMap((language) => textsIn(page, language))
  // Lines with a prompt, between output lines.
  const prompts = textsIn(page, 'console').flatMap((text) => [...text.matchAll(/^\$ (.*)$/gm)].map(([, command = '']) => command))
  return [...shell.flatMap((text) => text.replaceAll(/\\\n\s*/g, '').split('\n')), ...prompts]
    .map((line) => line.replace(/ +# .*$/, '').trim())
    .filter((line) => line !== '')
}

void t.test('every page with commands has a row', async (t) => {
  t.strictSame(Object.keys(rows).toSorted(), pages.filter((page) => commandsOf(page).length > 0).toSorted())
})

void t.test('every command of a page is run by a test or listed with a reason', async (t) => {
  for (const [page, { every, by = {}, left = {} }] of Object.entries(rows)) {
    if (every !== undefined) continue
    const known = [...Object.values(by).flat(), ...Object.keys(left)]
    t.strictSame([...new Set(known)].toSorted(), [...new Set(commandsOf(page))].toSorted(), page)
  }
})

/** The first ones read all pages; the others run commands of pages without naming them. */
const readsAll: ReadonlySet<string> = new Set([secrets, cliPackage, installPage, helm, 'test/infra/package.slow.test.ts'])

void t.test('each listed test reads the page, or the commands of all pages', async (t) => {
  for (const [page, { every, by = {} }] of Object.entries(rows)) {
    for (const test of [...(every === undefined ? [] : [every]), ...Object.keys(by)]) {
      const text = readFileSync(path.join(root, test), 'utf8')
      const folder = path.dirname(page)
      const isRead = [page, path.basename(page), ...(folder === 'docs' ? [] : [folder])].some((name) => text.includes(name))
      t.ok(isRead || readsAll.has(test), `${test} names ${page}`)
    }
  }
})
