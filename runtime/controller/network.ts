/**
 * How the controller reaches git hosts, as the settings of the installation say. Pure.
 */
import type { ControllerSettings } from '../settings.ts'
import { createResolveHost } from '../source/remote/addresses.ts'
import type { Network } from '../source/remote/network.ts'

/** `apiServerHost`: the address of the API server, which no repository URL may lead to. */
export function networkOf(
  { allowPrivateAddresses, allowedAddresses, proxy, noProxy }: ControllerSettings['source'],
  apiServerHost: string | undefined,
): Network {
  const refused = apiServerHost === undefined ? [] : [apiServerHost]
  return {
    resolve: createResolveHost({ allowPrivate: allowPrivateAddresses, allowed: allowedAddresses, refused }),
    proxy: proxy === undefined ? undefined : { https: proxy, http: proxy, noProxy },
  }
}
