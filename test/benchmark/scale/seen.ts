/**
 * The status of all GatewaySyncs, as seen by a client that watches them.
 */
import { systemClock } from '../../../runtime/platform/clock.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { runListWatch } from '../../../runtime/kube/list-watch.ts'
import { gatewaySyncType } from '../../../runtime/kube/types.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import type { Installation } from '../../support/installation.ts'

export type Seen = {
  of(key: string): GatewaySyncStatus | undefined
  /** Resolves with the time (`performance.now()`) at which the last of the keys met the condition. */
  all(keys: readonly string[], holds: (status: GatewaySyncStatus, key: string) => boolean, timeoutMs: number): Promise<number>
  /** Calls back on each change. */
  onChange(heard: (key: string, status: GatewaySyncStatus) => void): void
  stop(): Promise<void>
}

export function watchPlants({ world: { kube } }: Installation): Seen {
  const statuses = new Map<string, GatewaySyncStatus>()
  const listeners = new Set<(key: string, status: GatewaySyncStatus) => void>()
  const stop = new AbortController()
  const running = runListWatch(
    { kube, clock: systemClock, log: silentLog },
    { type: gatewaySyncType, project: ({ status }) => (status ?? {}) as GatewaySyncStatus },
    {
      upsert({ namespace, name }, status) {
        const key = `${namespace}/${name}`
        statuses.set(key, status)
        for (const listener of listeners) listener(key, status)
      },
      remove: ({ namespace, name }) => void statuses.delete(`${namespace}/${name}`),
      synced() {},
    },
    stop.signal,
  )
  return {
    of: (key) => statuses.get(key),
    onChange: (heard) => void listeners.add(heard),
    async all(keys, holds, timeoutMs) {
      const left = new Set(keys)
      const reached = Promise.withResolvers<number>()
      const look = (key: string, status: GatewaySyncStatus | undefined): void => {
        if (status !== undefined && left.has(key) && holds(status, key)) left.delete(key)
        if (left.size === 0) reached.resolve(performance.now())
      }
      listeners.add(look)
      for (const key of keys) look(key, statuses.get(key))
      const late = setTimeout(() => {
        const [key = ''] = left
        reached.reject(new Error(`${left.size} are not there after ${timeoutMs / 1000} s; ${key}: ${JSON.stringify(statuses.get(key))}`))
      }, timeoutMs)
      try {
        return await reached.promise
      } finally {
        clearTimeout(late)
        listeners.delete(look)
      }
    },
    async stop() {
      stop.abort(new Error('stop'))
      await running
    },
  }
}

export function isReadyAt(commit: string | undefined) {
  return ({ published, conditions = [] }: GatewaySyncStatus): boolean =>
    published?.commit === commit && conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
}
