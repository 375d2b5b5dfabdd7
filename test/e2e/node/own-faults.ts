/**
 * What an installation never logs on a sound node, however its pods and the API server come and go: a case may pass though the product has met a
 * bug, or has mended by itself what was not broken.
 */
import { agentContainerName, agentPodLabel } from '../../../runtime/gatewaysync/names.ts'
import { type Cluster, containerOf, inOperator, type Pod } from './cluster.ts'
import { say } from './given.ts'

const never = [/ bug$/, /^a mirror may be damaged$/, /^a list found what no watch had told of$/]

/** Such lines of all pods of the product that run now, each with its pod. */
export async function ownFaults({ kubectl, get }: Cluster): Promise<string[]> {
  const podsOf = async (...which: string[]): Promise<Pod[]> => (await get<{ items: Pod[] }>('pods', ...which)).items
  const logsOf = async (of: Pod, container: string): Promise<string[]> => {
    if (containerOf(of, container)?.state.running === undefined) return []
    const { namespace, name } = of.metadata
    const pod = `${namespace}/${name}`
    try {
      const text = await kubectl('logs', `--namespace=${namespace}`, name, `--container=${container}`)
      return text.split('\n').map((line) => `${pod}: ${line}`)
    } catch (error) {
      // It has just gone, or its node is not back yet.
      say(`no logs of ${pod}: ${String(error)}`)
      return []
    }
  }
  const agents = await podsOf('--all-namespaces', `--selector=${agentPodLabel}=true`)
  const controllers = await podsOf(inOperator)
  const lines = await Promise.all([
    ...agents.map((pod) => logsOf(pod, agentContainerName)),
    ...controllers.map((pod) => logsOf(pod, 'controller')),
  ])
  return lines.flat().filter((line) => never.some((pattern) => pattern.test(messageOf(line))))
}

function messageOf(line: string): string {
  return /"msg":"((?:[^"\\]|\\.)*)"\}$/.exec(line)?.[1] ?? ''
}
