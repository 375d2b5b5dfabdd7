/**
 * Configuration of the programs of a node. A node has its own namespaces, so all nodes use the same addresses and paths. Pure.
 */
import path from 'node:path'

/** The folder of a node as its processes see it: on disk, since the pages of files on tmpfs would count against container limits. */
export const nodeFolder = '/run/cluster-sync-node'
/** Sockets and etcd, on tmpfs. */
export const stateFolder = '/run/cluster-sync-state'
export const nodeName = 'node'
/** From the range for network tests (RFC 2544), which is never routed. */
export const nodeAddress = '198.18.0.1'
export const apiServerUrl = `https://${nodeAddress}:6443`
export const dnsAddress = '10.96.0.10'
const podRange = '10.244.0.0/24'
/** The registry name of the images of the node itself, which no registry serves. */
export const imageRepository = 'localhost/cluster-sync'
export const imageTag = '1'
export const containerdSocket = '/run/containerd/containerd.sock'

const inNode = (name: string): string => path.join(nodeFolder, name)

export type Roles = Record<
  'admin' | 'controllerManager' | 'scheduler' | 'kubelet' | 'kubeProxy',
  { user: string; groups: readonly string[] }
>

export const roles: Roles = {
  admin: { user: 'admin', groups: ['system:masters'] },
  controllerManager: { user: 'system:kube-controller-manager', groups: [] },
  scheduler: { user: 'system:kube-scheduler', groups: [] },
  kubelet: { user: `system:node:${nodeName}`, groups: ['system:nodes'] },
  kubeProxy: { user: 'system:kube-proxy', groups: [] },
}

/** Flags in addition to those of a control plane without a node. */
export const apiServerFlags = [
  '--authorization-mode=Node,RBAC',
  '--endpoint-reconciler-type=lease',
  '--enable-admission-plugins=NodeRestriction',
  '--kubelet-preferred-address-types=InternalIP',
] as const satisfies readonly `--${string}=${string}`[]

export function controllerManagerFlags(kubeconfig: string, caFile: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--service-account-private-key-file=${path.join(stateFolder, 'sa.key')}`,
    `--root-ca-file=${caFile}`,
    '--leader-elect=false',
    '--kube-api-qps=200',
    '--kube-api-burst=200',
    '--use-service-account-credentials=true',
    '--profiling=false',
  ]
}

export function schedulerFlags(kubeconfig: string): string[] {
  return [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--profiling=false']
}

/** `cgroup`: the parent of all pods of this node, so that nodes on one machine do not affect each other. */
export function kubeletConfiguration(cgroup: string): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // Only processes in the node's network reach the kubelet.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    localStorageCapacityIsolation: false,
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    clusterDNS: [dnsAddress],
    clusterDomain: 'cluster.local',
    resolvConf: inNode('resolv.conf'),
    volumePluginDir: inNode('volume-plugins'),
    // A machine short of disk or memory evicts no pod of a test.
    evictionHard: { 'memory.available': '0%', 'nodefs.available': '0%', 'imagefs.available': '0%', 'nodefs.inodesFree': '0%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    serializeImagePulls: false,
    // The images of the product are imported, and are also pulled from the registry of a test under other names.
    imagePullCredentialsVerificationPolicy: 'NeverVerify',
    // The delay until a changed Secret reaches its volume.
    syncFrequency: '10s',
    oomScoreAdj: 0,
  }
}

export function kubeletFlags(kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--config=${inNode('kubelet.json')}`,
    `--root-dir=${inNode('kubelet')}`,
    `--cert-dir=${inNode('kubelet-certificates')}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${nodeAddress}`,
  ]
}

export function kubeProxyConfiguration(kubeconfig: string): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig },
    mode: 'iptables',
    clusterCIDR: podRange,
    hostnameOverride: nodeName,
    oomScoreAdj: 0,
    // These settings belong to the whole machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    iptables: { minSyncPeriod: '100ms' },
  }
}

/** Each pod has its own veth pair to the node, so that its traffic to a Service always passes the node's rules. */
export const podNetwork = {
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [{ type: 'ptp', ipam: { type: 'host-local', ranges: [[{ subnet: podRange }]], routes: [{ dst: '0.0.0.0/0' }] } }],
}

export function containerdConfiguration(): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"'
  return `version = 2
root = "${inNode('containerd')}"
state = "/run/containerd"
[grpc]
  address = "${containerdSocket}"
[${cri}]
  sandbox_image = "${imageRepository}/pause:${imageTag}"
  # Not every machine lets a process lower what it was given.
  restrict_oom_score_adj = true
[${cri}.cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "${inNode('cni')}"
[${cri}.containerd]
  snapshotter = "overlayfs"
  default_runtime_name = "runc"
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
  SystemdCgroup = false
`
}
