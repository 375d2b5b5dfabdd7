/**
 * A separate namespace with a GatewaySync that reads a repository of the git host, and the gateways that follow it.
 */
import { apiVersion } from '../../../runtime/api/names.ts'
import { apiKey, type Cluster, gatewayObjects, type Gateways, gitToken, guardedNamespace, patience } from './cluster.ts'
import { gitHostName } from './given.ts'

export type Site = Gateways & {
  repository: string
  /** Name of the GatewaySync. */
  sync: string
  /** Members of its spec besides the repository, the API key and the mappings. */
  spec?: object
}

export async function plantSite(cluster: Cluster, site: Site): Promise<void> {
  const { namespace, sync, repository, nodePort, spec = {} } = site
  await cluster.apply(guardedNamespace(namespace, nodePort === undefined ? 'restricted' : 'privileged'))
  await cluster.kubectl('wait', '--for=create', 'serviceaccount/default', `--namespace=${namespace}`, patience.wait)
  const secret = (name: string, stringData: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name },
    stringData,
  })
  await cluster.apply(
    secret('git', { token: gitToken }),
    secret('gateway-api', { apiKey }),
    {
      apiVersion,
      kind: 'GatewaySync',
      metadata: { namespace, name: sync },
      spec: {
        git: {
          repo: `https://${gitHostName}/${repository}`,
          ref: 'main',
          auth: { token: { secretRef: { name: 'git', key: 'token' } } },
        },
        gateway: { api: { secretName: 'gateway-api' }, ...(nodePort === undefined ? {} : { port: nodePort }) },
        sync: {
          profiles: {
            default: {
              collections: { root: 'services/config/resources', mode: 'auto' },
              mappings: [{ source: 'services/projects', destination: 'projects' }],
            },
          },
        },
        ...spec,
      },
    },
    ...gatewayObjects(cluster, site),
  )
}
