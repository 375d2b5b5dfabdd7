/**
 * Log lines that an installation never writes on a healthy node, however its pods and the API server restart: a case may pass although the
 * product has failed unexpectedly, or has repaired something that was not broken.
 */
import { agentContainerName, agentPodLabel } from '../../../runtime/api/names.ts'
import { type Cluster, containerOf, inOperator, type Pod } from './cluster.ts'
import { say } from './given.ts'

const never = [/ unexpectedly$/, /^a mirror may be damaged$/, /^a list found changes that the watch missed$/]

/** Such lines of all running pods of the product, each with its pod. */
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
      // It has just exited, or its node is not back yet.
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
