/**
 * The push receiver in front of a standalone run: the same app as in a cluster, with the kept object in place of the API server.
 */
import type { Hono } from 'hono'
import type { Clock } from '../../clock.ts'
import { asFault } from '../../fault.ts'
import { requestAnnotations } from '../../gatewaysync/names.ts'
import { freeRequestSlots, supersededBy, wantedRef } from '../../gatewaysync/decide/request.ts'
import { parseRefName } from '../../gatewaysync/values.ts'
import type { Log } from '../../log.ts'
import { receiverApp } from '../../receiver/app.ts'
import { gatherKeys, keysIn } from '../../receiver/prove/authenticate.ts'
import type { StandaloneSync } from '../../standalone/settings.ts'
import type { Standalone } from './standalone.ts'

/** Where neither method is configured whoever reaches the receiver may push. */
export type ReceiverSettings = {
  sync: StandaloneSync
  /** Read at each call; undefined: the method is not configured. Throws SecretNotFound. */
  hmac: (() => Promise<string>) | undefined
  token: (() => Promise<string>) | undefined
}

/** The push receiver of a standalone run: the cluster's own, with one GatewaySync behind it. */
export function receiverOf(
  { keeper }: Standalone,
  { sync, hmac, token }: ReceiverSettings,
  { clock, log }: { clock: Clock; log: Log },
): Hono {
  const isOurs = (namespace: string, name: string): boolean => namespace === sync.namespace && name === sync.name
  const { git } = sync.spec
  return receiverApp({
    lookup(namespace, name) {
      if (!isOurs(namespace, name)) return undefined
      const { annotations, status } = keeper.record()
      const wanted = wantedRef(parseRefName(git.ref), annotations, status)
      return { specRef: git.ref, wantedRef: wanted.ref, allowedRefs: git.allowedRefs }
    },
    freeSlots() {
      const { annotations, status } = keeper.record()
      return freeRequestSlots(annotations, status)
    },
    async keys() {
      const keys = await gatherKeys(
        async () => (hmac === undefined ? undefined : keysIn(await hmac())),
        async () => (token === undefined ? undefined : keysIn(await token())),
        asFault,
      )
      return { ...keys, installationFault: keys.fault }
    },
    async request(_namespace, _name, annotations, superseded) {
      const { annotations: present, status } = keeper.record()
      keeper.annotate({ ...annotations, [requestAnnotations.superseded]: supersededBy(annotations, present, status, superseded) })
    },
    notify: (namespace, name, notice) => log.warn({ namespace, name, reason: notice }, 'a push needs attention'),
    observe() {},
    clock,
    log,
  })
}
