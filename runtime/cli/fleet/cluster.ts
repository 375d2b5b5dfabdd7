/**
 * Connects commands to a cluster, and translates API errors into messages. Imported only when needed, because it loads the Kubernetes client.
 */
import { systemClock } from '../../platform/clock.ts'
import { readKubeconfigs } from '../../settings/environment.ts'
import { Fault } from '../../platform/fault.ts'
import { createKube, type Kube } from '../../kube/client.ts'
import { chooseCluster } from '../../kube/kubeconfig.ts'
import { version, docsPage } from '../../platform/version.ts'
import type { ClusterOptions } from './options.ts'
import type { Change } from '../../fleet/request-patch.ts'
import { cliFieldManager } from '../../api/names.ts'
import { gatewaySyncType, type KubeObject } from '../../kube/types.ts'
import { type GatewaySyncRecord, projectGatewaySync } from '../../reconcile/store/records.ts'
import { workSignal } from '../stop.ts'
import { exitUnknown, printError } from '../output/output.ts'

/** `server` is the address of the API server, for messages. */
export type Cluster = {
  kube: Kube
  server: string
  /** The named namespace, otherwise that of the context. */
  namespace: string
  /** The named context; undefined: the current one. */
  context?: string | undefined
}

/** Runs `work` with a connection, and closes it. Throws InvalidConfiguration, and what `work` throws, with API errors translated. */
export async function inCluster<Result>(options: ClusterOptions, work: (cluster: Cluster) => Promise<Result>): Promise<Result> {
  return await inClusters(options, [options.context], async ([cluster]) => {
    try {
      return await work(cluster)
    } catch (error) {
      throw explainApiError(error, cluster.server)
    }
  })
}

/** At least one. */
export type Clusters = readonly [Cluster, ...Cluster[]]

/** Like `inCluster` with the clusters of several contexts, in order; errors of the API servers are not translated. */
export async function inClusters<Result>(
  options: Omit<ClusterOptions, 'context'>,
  [first, ...more]: readonly [string | undefined, ...string[]],
  work: (clusters: Clusters) => Promise<Result>,
): Promise<Result> {
  const clusters: Clusters = [connect(options, first), ...more.map((context) => connect(options, context))]
  try {
    return await work(clusters)
  } finally {
    for (const { kube } of clusters) kube.close()
  }
}

function connect(options: Omit<ClusterOptions, 'context'>, context: string | undefined): Cluster {
  const { config, server, namespace } = chooseCluster({ file: options.kubeconfig, context, environment: readKubeconfigs() })
  const kube = createKube(config, { clock: systemClock, userAgent: `cluster-sync/${version}`, connections: 8 })
  return { kube, server, namespace: options.namespace ?? namespace, context }
}

/** Replaces the method, path and status code in a message with an explanation. */
export function explainApiError(error: unknown, server: string): unknown {
  if (!(error instanceof Fault)) return error
  const { reason, message } = error
  if (reason === 'Forbidden') return new Fault(reason, forbidden(message), { cause: error })
  if (reason === 'ApiUnavailable')
    return new Fault(reason, `the cluster at ${server} does not answer: ${afterPath(message)}`, { cause: error })
  if (reason === 'NotFound' && message.includes('could not find the requested resource'))
    return new Fault(reason, 'the CRDs of the operator are not installed in this cluster', { cause: error })
  return error
}

/** The message of the API server for a missing permission. */
const refusal = /User "([^"]*)" cannot (\w+) resource "([^"]*)" in API group "[^"]*"(?: in the namespace "([^"]*)")?/

function forbidden(message: string): string {
  if (/: 401\b/.test(message)) return 'the cluster does not accept these credentials: log in again, or use another context'
  const [, user, verb, resource, namespace] = refusal.exec(message) ?? []
  if (user === undefined) return `the cluster rejected the request: ${afterPath(message)}`
  const where = namespace === undefined ? 'in the whole cluster' : `in namespace "${namespace}"`
  return `you (${user}) may not ${verb} ${resource} ${where}; for the permissions of each command, see ${docsPage('docs/how-to/fleet.md')}`
}

function afterPath(message: string): string {
  return message.replace(/^[A-Z]+ \/\S*: (?:[0-9]{3} )?/, '')
}

/** Other clients may write at the same time. */
const maxAttempts = 5

/** Applies one merge patch to the current object, or none if `change` returns none. Throws NotFound, Conflict, and what writing throws. */
export async function patchSync(
  { kube, namespace, signal }: ClusterCommand,
  name: string,
  change: (record: GatewaySyncRecord) => Change | undefined,
): Promise<GatewaySyncRecord> {
  for (let attempt = 1; ; attempt += 1) {
    const record = projectGatewaySync(await readSync({ kube, namespace, signal }, name))
    const patch = change(record)
    if (patch === undefined) return record
    const body = { ...patch, metadata: { ...patch.metadata, resourceVersion: record.resourceVersion } }
    try {
      return projectGatewaySync(
        await kube.mergePatch(gatewaySyncType, { namespace, name }, body, { fieldManager: cliFieldManager }, signal),
      )
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'Conflict' || attempt === maxAttempts) throw error
    }
  }
}

/** Throws NotFound, and what reading throws. */
export async function readSync({ kube, namespace, signal }: Omit<ClusterCommand, 'server'>, name: string): Promise<KubeObject> {
  const object = await kube.get(gatewaySyncType, { namespace, name }, signal)
  if (object === undefined) throw new Fault('NotFound', `there is no GatewaySync "${name}" in namespace "${namespace}"`)
  return object
}

/** The signal is aborted when the command is interrupted. */
export type ClusterCommand = Cluster & { signal: AbortSignal }

/**
 * Returns the exit code of `work`; after Ctrl-C or SIGTERM prints a note and ends by the signal. Throws what `work` throws, with API errors
 * translated.
 */
export async function runInCluster(options: ClusterOptions, work: (cluster: ClusterCommand) => Promise<number>): Promise<number> {
  const signal = workSignal()
  try {
    return await inCluster(options, async (cluster) => await work({ ...cluster, signal }))
  } catch (error) {
    if (!signal.aborted) throw error
    printError('stopped before the outcome was known; "cluster-sync status" shows it')
    return exitUnknown
  }
}
