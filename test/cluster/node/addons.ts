/**
 * The add-ons of a cluster: DNS, and cert-manager from its own chart.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { folderBeside, type Program } from '../binaries.ts'
import { dnsAddress, imageRepository, imageTag, nodeAddress, stateFolder } from './configuration.ts'
import { imageNameOf } from './images.ts'

/** Runs kubectl and returns its output; throws with its error output on failure. */
export type Kubectl = (args: readonly string[], input?: string) => string

/** Resolves when DNS answers. `names` resolve to the node's address, as if they were hosts outside the cluster. */
export function installDns(kubectl: Kubectl, names: readonly string[]): void {
  const hosts = names.length === 0 ? '' : `  hosts {\n    ${nodeAddress} ${names.join(' ')}\n    ttl 5\n    fallthrough\n  }\n`
  const zones = `  kubernetes cluster.local in-addr.arpa {\n    ttl 5\n    pods insecure\n  }\n`
  const corefile = `.:53 {\n  errors\n  health\n  ready\n${hosts}${zones}}\n`
  const labels = { 'k8s-app': 'kube-dns' }
  const name = 'coredns'
  const inSystem = { namespace: 'kube-system', name }
  const objects = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inSystem },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules: [
        { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', ...inSystem }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: inSystem, data: { Corefile: corefile } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'kube-system', name: 'kube-dns' },
      spec: {
        clusterIP: dnsAddress,
        selector: labels,
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53, protocol: 'TCP' },
        ],
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: inSystem,
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: name,
            dnsPolicy: 'Default',
            containers: [
              {
                name,
                image: imageNameOf('coredns'),
                imagePullPolicy: 'Never',
                args: ['-conf', '/etc/coredns/Corefile'],
                // Port 53 requires root.
                securityContext: { runAsUser: 0 },
                readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
                volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
              },
            ],
            volumes: [{ name: 'config', configMap: { name } }],
          },
        },
      },
    },
  ]
  kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
  kubectl(['rollout', 'status', 'deployment/coredns', '--namespace=kube-system', '--timeout=300s'])
}

/** Installs cert-manager with Helm; resolves when its three deployments are ready. */
export function installCertManager(kubectl: Kubectl, helm: string, kubeconfig: string): void {
  const chart = path.join(stateFolder, 'cert-manager')
  const source = folderBeside('cert-manager-controller')
  // Files of a Go module are read-only.
  cpSync(path.join(source, 'charts/cert-manager'), chart, { recursive: true })
  mkdirSync(chart, { recursive: true })
  // Same as cert-manager's own release tool.
  const template = readFileSync(path.join(chart, 'Chart.template.yaml'), 'utf8')
  writeFileSync(path.join(chart, 'Chart.yaml'), template.replace(/^annotations:[^]*$/m, ''))
  for (const name of readdirSync(path.join(source, 'crds')).filter((each) => each.endsWith('.yaml'))) {
    cpSync(path.join(source, 'crds', name), path.join(chart, 'templates', name))
  }
  const image = (name: Program) => ({
    image: { repository: `${imageRepository}/${name}`, tag: imageTag, pullPolicy: 'Never' },
  })
  const values = path.join(stateFolder, 'cert-manager-values.json')
  writeFileSync(
    values,
    JSON.stringify({
      installCRDs: true,
      prometheus: { enabled: false },
      startupapicheck: { enabled: false },
      ...image('cert-manager-controller'),
      cainjector: image('cert-manager-cainjector'),
      webhook: image('cert-manager-webhook'),
    }),
  )
  const words = ['install', 'cert-manager', chart, '--namespace', 'cert-manager', '--create-namespace', '--values', values]
  const home = { HELM_CACHE_HOME: stateFolder, HELM_CONFIG_HOME: stateFolder, HELM_DATA_HOME: stateFolder }
  execFileSync(helm, [...words, '--kubeconfig', kubeconfig], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...home } })
  for (const name of ['cert-manager', 'cert-manager-cainjector', 'cert-manager-webhook']) {
    kubectl(['rollout', 'status', `deployment/${name}`, '--namespace=cert-manager', '--timeout=300s'])
  }
}
