/**
 * The key and authority with which agents call their gateway: the Secrets that spec.gateway names, read when an agent asks.
 */
import type { GatewayAccess } from '../../delivery/protocol.ts'
import { Fault } from '../../fault.ts'
import type { GatewaySpec } from '../../gatewaysync/schema/spec.ts'
import type { ReadSecret } from '../../source/remote/secrets.ts'

/** Throws SecretNotFound naming Secret and key, ApiUnavailable, Forbidden. */
export async function readGatewayAccess(
  readSecret: ReadSecret,
  namespace: string,
  { api, caBundle }: GatewaySpec,
  signal: AbortSignal,
): Promise<GatewayAccess> {
  const read = async (name: string, key: string): Promise<string> => {
    const value = (await readSecret(namespace, name, signal))?.data.get(key)?.toString('utf8').trim() ?? ''
    if (value === '') throw new Fault('SecretNotFound', `Secret ${namespace}/${name} has no key ${key}, or it is empty`)
    return value
  }
  return {
    ...(api === undefined ? {} : { apiKey: await read(api.secretName, api.secretKey) }),
    ...(caBundle === undefined ? {} : { caBundle: await read(caBundle.secretRef.name, caBundle.secretRef.key) }),
  }
}
