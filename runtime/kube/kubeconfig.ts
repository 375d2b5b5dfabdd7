/**
 * Chooses the cluster for a CLI command by kubectl's rules: the files of $KUBECONFIG, else ~/.kube/config, else the cluster of the pod that
 * the command runs in.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { Fault } from '../platform/fault.ts'

/** The input of the choice, read by the caller. */
export type KubeconfigChoice = {
  /** --kubeconfig: overrides everything in `environment`. */
  file: string | undefined
  context: string | undefined
  /** `files`: of $KUBECONFIG, in order. `inPod`: whether the pod's ServiceAccount can be used. */
  environment: { files: readonly string[]; home: string | undefined; inPod: boolean }
}

/** `server` is the API server's URL; `namespace` that of the context, or `default`. */
export type ChosenCluster = { config: KubeConfig; server: string; namespace: string }

/** Reads the files. Throws InvalidConfiguration when none can be read, the context is unknown, or no cluster is named. */
export function chooseCluster({ file, context, environment }: KubeconfigChoice): ChosenCluster {
  const config = load(file === undefined ? environment : { ...environment, files: [file] })
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      const known = config.getContexts().map(({ name }) => name)
      throw new Fault('InvalidConfiguration', `--context: the kubeconfig has no context "${context}"; it has ${known.join(', ') || 'none'}`)
    }
    config.setCurrentContext(context)
  }
  const server = config.getCurrentCluster()?.server
  if (server === undefined)
    throw new Fault('InvalidConfiguration', 'the kubeconfig does not select a cluster: name a context with --context')
  return { config, server, namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default' }
}

function load({ files, home, inPod }: KubeconfigChoice['environment']): KubeConfig {
  const ofHome = home === undefined ? undefined : path.join(home, '.kube', 'config')
  if (files.length > 0) return merged(files)
  if (ofHome !== undefined && existsSync(ofHome)) return merged([ofHome])
  if (inPod) return loaded("the pod's ServiceAccount", (config) => config.loadFromCluster())
  throw new Fault(
    'InvalidConfiguration',
    'no cluster is known: set KUBECONFIG or use --kubeconfig <file>; for a standalone run, use status, history or drift with --state <dir>, or edit the GatewaySync file',
  )
}

/** Like kubectl: if several files define the same name, the first one wins. */
function merged(files: readonly string[]): KubeConfig {
  const all = files.map((file) => loaded(`kubeconfig "${file}"`, (config) => config.loadFromFile(file)))
  const result = new KubeConfig()
  for (const one of all) {
    const isNew = (known: readonly { name: string }[]) => (entry: { name: string }) => !known.some(({ name }) => name === entry.name)
    for (const cluster of one.getClusters().filter(isNew(result.clusters ?? []))) result.addCluster(cluster)
    for (const user of one.getUsers().filter(isNew(result.users ?? []))) result.addUser(user)
    for (const context of one.getContexts().filter(isNew(result.contexts ?? []))) result.addContext(context)
  }
  result.setCurrentContext(all.map((one) => one.getCurrentContext()).find((name) => name !== undefined && name !== '') ?? '')
  return result
}

function loaded(what: string, load: (config: KubeConfig) => void): KubeConfig {
  const config = new KubeConfig()
  try {
    load(config)
    return config
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    throw new Fault('InvalidConfiguration', `${what} cannot be read: ${cause}`, { cause: error })
  }
}
