/**
 * Reads the kubeconfig of another cluster from a Secret. It may contain credentials, but nothing that would run a program or read a file in
 * this pod: a path could send the pod's own token to that cluster.
 */
import { KubeConfig } from '@kubernetes/client-node'
import * as v from 'valibot'
import { Fault } from '../platform/fault.ts'

const text = v.pipe(v.string(), v.minLength(1))
const optional = v.optional(text)

const cluster = v.strictObject({
  server: v.pipe(text, v.startsWith('https://', 'must begin with https://')),
  'certificate-authority-data': optional,
  'tls-server-name': optional,
  extensions: v.optional(v.unknown()),
})
const user = v.strictObject({
  token: optional,
  'client-certificate-data': optional,
  'client-key-data': optional,
  username: optional,
  password: optional,
  extensions: v.optional(v.unknown()),
})
const context = v.object({ cluster: text, user: text })
const named = v.array(v.looseObject({ name: text }))
const kubeconfig = v.object({ 'current-context': text, clusters: named, users: named, contexts: named })

/** The cluster and user of the current context. Throws InvalidConfiguration. */
export async function remoteKubeconfig(written: string): Promise<KubeConfig> {
  // Most installations name no other cluster, and do not load it.
  const { parse: parseYaml } = await import('yaml')
  try {
    const config = v.parse(kubeconfig, parseYaml(written))
    const used = chosen(context, config.contexts, 'context', config['current-context'])
    const { server, ...tls } = chosen(cluster, config.clusters, 'cluster', used.cluster)
    const credentials = chosen(user, config.users, 'user', used.user)
    const result = new KubeConfig()
    result.loadFromClusterAndUser(
      {
        name: used.cluster,
        server,
        skipTLSVerify: false,
        ...given('caData', tls['certificate-authority-data']),
        ...given('tlsServerName', tls['tls-server-name']),
      },
      {
        name: used.user,
        ...given('token', credentials.token),
        ...given('certData', credentials['client-certificate-data']),
        ...given('keyData', credentials['client-key-data']),
        ...given('username', credentials.username),
        ...given('password', credentials.password),
      },
    )
    return result
  } catch (error) {
    throw new Fault('InvalidConfiguration', `the kubeconfig cannot be used: ${causeOf(error)}`, { cause: error })
  }
}

function chosen<Schema extends v.GenericSchema>(
  schema: Schema,
  list: readonly ({ name: string } & Record<string, unknown>)[],
  key: string,
  name: string,
): v.InferOutput<Schema> {
  const found = list.find((one) => one.name === name)
  if (found === undefined) throw new Error(`it has no ${key} "${name}"`)
  const parsed = v.safeParse(schema, found[key])
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const where = v.getDotPath(issue) ?? ''
  // A strict object expects `never` for a key that it does not have.
  throw new Error(
    issue.expected === 'never' ? `${key} "${name}" has ${where}, which is not supported` : `${key} "${name}", ${where}: ${issue.message}`,
  )
}

function given<Key extends string>(key: Key, value: string | undefined): Partial<Record<Key, string>> {
  return value === undefined ? {} : ({ [key]: value } as Partial<Record<Key, string>>)
}

/** Never the text itself, which has credentials: parsers quote it. */
function causeOf(error: unknown): string {
  if (error instanceof v.ValiError) return `${v.getDotPath(error.issues[0]) ?? 'document'}: not as kubectl writes it`
  return error instanceof Error && error.constructor === Error ? error.message : 'it is not valid YAML'
}
