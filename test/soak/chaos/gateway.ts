/**
 * A gateway that follows over the real delivery protocol, with its own pod token, and keeps fetched contents in memory: without agent,
 * engine and simulator, because a machine cannot run two hundred of those. Retries after every error.
 */
import { execFileSync } from 'node:child_process'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { ContentClient, type DeliveryClient } from '../../../runtime/content/client/client.ts'
import type { BlobSink, Change } from '../../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { deliveryToken } from '../../../runtime/api/names.ts'
import { type CommitHash, parseCommitHash } from '../../../runtime/api/values.ts'
import { type GatewayPod, writeReport } from '../../benchmark/scale/plants.ts'
import type { Installation } from '../../support/installation.ts'
import { gitEnvironment } from '../../support/repository.ts'

const retryMs = 500

export type LightGateway = {
  /** The commit that is published for it now. */
  follow(commit: string, delivery: { url: string; caBundle: string }): void
  /** The hash of each file by path. */
  files: ReadonlyMap<string, string>
  stop(): Promise<void>
}

export function lightGateway(cluster: Installation, pod: GatewayPod, syncHash: string): LightGateway {
  const { world } = cluster
  const { namespace, name: gatewaySync } = pod.plant
  const files = new Map<string, string>()
  const stop = new AbortController()
  let desired: { commit: string; url: string; caBundle: string } | undefined
  let held: CommitHash | undefined
  let done: typeof desired
  let running = Promise.resolve()
  let client: { of: string; ask: DeliveryClient } | undefined
  let token: string | undefined

  const clientFor = async (url: string, caBundle: string): Promise<DeliveryClient> => {
    const bound = { name: pod.name, uid: pod.uid }
    token ??= await world.token(namespace, 'gateway', { audience: deliveryToken.audience, pod: bound })
    const of = `${url} ${caBundle}`
    const given = token
    if (client?.of !== of)
      client = {
        of,
        ask: new ContentClient({ url, caBundle, token: async () => given, namespace, name: gatewaySync, clock: systemClock }),
      }
    return client.ask
  }

  const bring = async ({ commit: text, url, caBundle }: NonNullable<typeof desired>): Promise<void> => {
    const commit = parseCommitHash(text)
    if (held !== commit) {
      const ask = await clientFor(url, caBundle)
      const changes: Change[] = []
      for await (const batch of ask.changes({ commit, profile: 'default', from: held ?? null }, stop.signal)) changes.push(...batch)
      const ids = [...new Set(changes.flatMap((change) => (change.op === 'put' ? [change.id] : [])))]
      const seen = new Set<string>()
      await ask.blobs({ commit, profile: 'default', ids }, counting(seen), stop.signal)
      if (ids.some((id) => !seen.has(id))) throw new Fault('DeliveryFailed', 'a content is missing')
      if (held === undefined) files.clear()
      for (const change of changes) {
        if (change.op === 'put') files.set(change.path, change.id)
        else files.delete(change.path)
      }
      held = commit
    }
    await writeReport(cluster, pod, { commit, syncHash })
  }

  const work = async (): Promise<void> => {
    while (done !== desired && !stop.signal.aborted) {
      const next = desired
      try {
        if (next !== undefined) await bring(next)
        done = next
      } catch (error) {
        // If the earlier commit is unknown, it requests everything; all other errors are retried unchanged.
        if (error instanceof Fault && error.reason === 'UnknownBase') held = undefined
        await systemClock.wait(retryMs, stop.signal).catch(() => undefined)
      }
    }
  }

  return {
    files,
    follow(commit, delivery) {
      if (desired?.commit === commit && desired.url === delivery.url && desired.caBundle === delivery.caBundle) return
      desired = { commit, ...delivery }
      running = running.then(work)
    },
    async stop() {
      stop.abort(new Error('the soak is over'))
      await running
    },
  }
}

/** The client verifies contents; here they are only counted. */
function counting(seen: Set<string>): BlobSink {
  let present = ''
  return {
    begin(id) {
      present = id
    },
    data() {},
    end() {
      seen.add(present)
    },
  }
}

/** The content of a commit below `projects` according to git, by path. */
export function filesOf(repository: string, commit: string): Map<string, string> {
  const args = ['-C', repository, 'ls-tree', '-r', '-z', '--full-tree', commit, 'projects/']
  const text = execFileSync('git', args, { env: gitEnvironment }).toString('utf8')
  const entries = text.split('\0').flatMap((entry): [string, string][] => {
    const [, id, file] = /^100[0-7]+ blob ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? []
    return id === undefined || file === undefined ? [] : [[file, id]]
  })
  return new Map(entries)
}
