/**
 * Mirrors of repositories with credentials, as a GatewaySync names them, from Secrets that a test holds.
 */
import path from 'node:path'
import type { Test } from 'tap'
import * as v from 'valibot'
import { systemClock } from '../../runtime/clock.ts'
import { Fault } from '../../runtime/fault.ts'
import { gitSpec } from '../../runtime/gatewaysync/schema/git-spec.ts'
import { silentLog } from '../../runtime/log.ts'
import { type Network, openNetwork } from '../../runtime/source/remote/network.ts'
import { createMirrors, type Mirror } from '../../runtime/source/mirrors.ts'
import { createRemotes } from '../../runtime/source/remotes.ts'
import type { ReadSecret } from '../../runtime/source/remote/secrets.ts'
import { temporaryFolder } from './repository.ts'

/** Keys by the name of their Secret; a test may change them. */
export type Secrets = Record<string, Record<string, string>>

export function readSecrets(secrets: Secrets): ReadSecret {
  return async (_namespace, name) => {
    const data = secrets[name]
    if (data === undefined) return undefined
    return { version: JSON.stringify(data), data: new Map(Object.entries(data).map(([key, text]) => [key, Buffer.from(text)])) }
  }
}

export type Plant = {
  /** The mirror for a `spec.git`, with the Secrets as they are now. */
  open(git: Record<string, unknown>): Promise<Mirror>
  /** The commit of main, or `reason: message`. */
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
        const { commit, hasTagToo } = await mirror.resolve('main', { fresh }, AbortSignal.timeout(60_000))
        // Until then the host is called.
        await hasTagToo
        return commit
      } catch (error) {
        if (error instanceof Fault) return `${error.reason}: ${error.message}`
        throw error
      }
    },
  }
}
