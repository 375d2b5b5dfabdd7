/**
 * Which cluster a person at a terminal means, by the rules of kubectl: the files of $KUBECONFIG, else ~/.kube/config, else the pod that the
 * command runs in.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { Fault } from '../fault.ts'

export type KubeconfigChoice = {
  /** Named by the user, before all others. */
  file: string | undefined
  context: string | undefined
  /** What the environment says. */
  environment: { files: readonly string[]; home: string | undefined; inPod: boolean }
}

export type ChosenCluster = { config: KubeConfig; server: string; namespace: string }

/** `namespace` is that of the context, as kubectl takes it. Throws InvalidConfiguration. */
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
    throw new Fault('InvalidConfiguration', 'the kubeconfig does not say which cluster is meant: name a context with --context')
  return { config, server, namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default' }
}

function load({ files, home, inPod }: KubeconfigChoice['environment']): KubeConfig {
  const ofHome = home === undefined ? undefined : path.join(home, '.kube', 'config')
  if (files.length > 0) return merged(files)
  if (ofHome !== undefined && existsSync(ofHome)) return merged([ofHome])
  if (inPod) return loaded("the pod's ServiceAccount", (config) => config.loadFromCluster())
  throw new Fault('InvalidConfiguration', 'no cluster is known: set KUBECONFIG or give --kubeconfig <file>')
}

/** What several files say of the same name, the first of them says. */
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
