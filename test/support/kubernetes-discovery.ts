/**
 * The targets that Prometheus' Kubernetes discovery finds for pods and Services, with the labels of its documentation (configuration,
 * kubernetes_sd_config). Debian builds Prometheus without it. Pure.
 */
import type { Manifest } from './manifest.ts'

/** A target before relabeling. */
export type Discovered = { targets: [string]; labels: Record<string, string> }

/** The local address for a port of the cluster. */
export type Reach = (port: number) => string

type Port = { name?: string; containerPort: number }
type Container = { name: string; ports?: Port[] }
type PodShape = { spec: { containers: Container[]; initContainers?: Container[] }; status?: { phase?: string } }

/** Role `pod`: one target per port of each container, including init containers. */
export function podTargets(pod: Manifest, reach: Reach): Discovered[] {
  const { spec, status } = pod as unknown as PodShape
  const { name, namespace, labels = {} } = pod.metadata as { name: string; namespace: string; labels?: Record<string, string> }
  const all = [
    ...spec.containers.map((container) => ({ ...container, init: false })),
    ...(spec.initContainers ?? []).map((container) => ({ ...container, init: true })),
  ]
  return all.flatMap((container) =>
    (container.ports ?? []).map((port) => ({
      targets: [reach(port.containerPort)],
      labels: {
        __meta_kubernetes_namespace: namespace,
        __meta_kubernetes_pod_name: name,
        __meta_kubernetes_pod_phase: status?.phase ?? '',
        __meta_kubernetes_pod_container_name: container.name,
        __meta_kubernetes_pod_container_init: String(container.init),
        __meta_kubernetes_pod_container_port_name: port.name ?? '',
        __meta_kubernetes_pod_container_port_number: String(port.containerPort),
        ...labeled('pod', labels),
      },
    })),
  )
}

/** Role `endpoints`: one target per port of a Service, with one pod behind it. */
export function endpointTargets(service: Manifest, podName: string, reach: Reach): Discovered[] {
  const { name, namespace, labels = {} } = service.metadata as { name: string; namespace: string; labels?: Record<string, string> }
  const { ports } = service['spec'] as { ports: { name: string; port: number }[] }
  return ports.map((port) => ({
    targets: [reach(port.port)],
    labels: {
      __meta_kubernetes_namespace: namespace,
      __meta_kubernetes_service_name: name,
      __meta_kubernetes_endpoint_port_name: port.name,
      __meta_kubernetes_endpoint_address_target_kind: 'Pod',
      __meta_kubernetes_endpoint_address_target_name: podName,
      __meta_kubernetes_pod_name: podName,
      __meta_kubernetes_pod_phase: 'Running',
      ...labeled('service', labels),
    },
  }))
}

function labeled(role: 'pod' | 'service', labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([key, value]) => {
      const name = key.replaceAll(/[^a-zA-Z0-9_]/g, '_')
      return [
        [`__meta_kubernetes_${role}_label_${name}`, value],
        [`__meta_kubernetes_${role}_labelpresent_${name}`, 'true'],
      ]
    }),
  )
}
