/**
 * Mirrors of repositories with credentials as a GatewaySync names them, from Secrets that a test provides.
 */
import path from 'node:path'
import type { Test } from 'tap'
import * as v from 'valibot'
import { systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { followedRef } from '../../runtime/api/followed-ref.ts'
import { gitSpec } from '../../runtime/api/schema/git-spec.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { type Network, openNetwork } from '../../runtime/git/remote/network.ts'
import { createMirrors, type Mirror } from '../../runtime/git/mirrors.ts'
import { createRemotes } from '../../runtime/git/remotes.ts'
import type { ReadSecret } from '../../runtime/git/remote/secrets.ts'
import { temporaryFolder } from './repository.ts'

/** Keys and values by Secret name; a test may change them. */
export type Secrets = Record<string, Record<string, string>>

export function readSecrets(secrets: Secrets): ReadSecret {
  return async (_namespace, name) => {
    const data = secrets[name]
    if (data === undefined) return undefined
    return { version: JSON.stringify(data), data: new Map(Object.entries(data).map(([key, text]) => [key, Buffer.from(text)])) }
  }
}

export type Plant = {
  /** The mirror for a `spec.git`, with the current Secrets. */
  open(git: Record<string, unknown>): Promise<Mirror>
  /** The commit of `ref` (default: main), or `reason: message`. */
  ask(git: Record<string, unknown>, fresh?: boolean): Promise<string>
}

export function openPlant(t: Test, secrets: Secrets, network: Network = openNetwork): Plant {
  const folder = path.join(temporaryFolder(t, 'plant'), 'mirrors')
  const mirrors = createMirrors({ folder, clock: systemClock, log: silentLog, network })
  t.teardown(async () => mirrors.close())
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const remoteOf = createRemotes({
    allowLocal: true,
    allowedHosts: [],
    readSecret: readSecrets(secrets),
    network,
    clock: systemClock,
    signal: stop.signal,
  })
  const schema = gitSpec({ allowLocal: true })
  const open: Plant['open'] = async (git) => {
    const spec = v.parse(schema, { ref: 'main', ...git })
    return mirrors.of(await remoteOf('plant', spec, AbortSignal.timeout(10_000)))
  }
  return {
    open,
    async ask(git, fresh = true) {
      try {
        const mirror = await open(git)
        const ref = followedRef(v.parse(schema, { ref: 'main', ...git }))
        const { commit } = await mirror.resolve(ref, { fresh }, AbortSignal.timeout(60_000))
        return commit
      } catch (error) {
        if (error instanceof Fault) return `${error.reason}: ${error.message}`
        throw error
      }
    },
  }
}
