/**
 * Gateways that follow one GatewaySync over the real delivery protocol, each with its own pod token: they request changes, fetch contents,
 * write files and report. They are not full agents: one watch serves all of them, and there is neither engine nor gateway.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { ContentClient, type DeliveryClient } from '../../../runtime/content/client/client.ts'
import type { BlobSink, Change } from '../../../runtime/content/protocol/protocol.ts'
import { deliveryToken } from '../../../runtime/api/names.ts'
import { parseCommitHash } from '../../../runtime/api/values.ts'
import type { Installation } from '../../support/installation.ts'
import { createPods, createReports, forEach, type GatewayPod, type Plant, untilTaken, writeReport } from './plants.ts'
import type { Seen } from './seen.ts'

export type Followers = {
  /** For each gateway the time (`performance.now()`) at which it wrote its last file of the commit. */
  have(commit: string): Promise<number[]>
  /** Resolves when no sync is in progress. */
  settled(): Promise<void>
  /** The number of failed syncs; each was retried, as agents do. */
  failures(): number
}

type Follower = { pod: GatewayPod; client: DeliveryClient; folder: string; commit: string | null }
type Put = Extract<Change, { op: 'put' }>

export async function startFollowers(
  cluster: Installation,
  seen: Seen,
  plant: Plant,
  { count, syncHash }: { count: number; syncHash: string },
): Promise<Followers> {
  const key = `${plant.namespace}/${plant.name}`
  const pods = await createPods(cluster, [plant], count)
  await createReports(cluster, pods)
  const followers: Follower[] = []
  await forEach(pods, async (pod) => {
    followers.push({
      pod,
      client: await clientOf(cluster, seen, pod),
      folder: path.join(cluster.folder, `follower-${pod.uid}`),
      commit: null,
    })
  })
  const arrivals = new Map<string, { times: number[]; complete: PromiseWithResolvers<number[]> }>()
  const arrivalsOf = (commit: string) => {
    const known = arrivals.get(commit)
    if (known !== undefined) return known
    const fresh = { times: [] as number[], complete: Promise.withResolvers<number[]>() }
    arrivals.set(commit, fresh)
    return fresh
  }
  const underWay = new Set<Promise<void>>()
  let failures = 0
  const bring = async (follower: Follower, commit: string): Promise<void> => {
    await untilTaken(async () => {
      try {
        await fetchInto(follower, commit, cluster.world.signal)
      } catch (error) {
        failures += 1
        throw error
      }
    })
    follower.commit = commit
    const { times, complete } = arrivalsOf(commit)
    times.push(performance.now())
    if (times.length === count) complete.resolve(times)
    await writeReport(cluster, follower.pod, { commit, syncHash })
  }
  const start = (commit: string): void => {
    for (const follower of followers) {
      const work: Promise<void> = bring(follower, commit)
        .catch((error: unknown) => arrivalsOf(commit).complete.reject(error))
        .finally(() => underWay.delete(work))
      underWay.add(work)
    }
  }
  let latest: string | undefined
  const hear = (commit: string | undefined): void => {
    if (commit === undefined || commit === latest) return
    latest = commit
    start(commit)
  }
  seen.onChange((changed, { published }) => changed === key && hear(published?.commit))
  hear(seen.of(key)?.published?.commit)
  return {
    failures: () => failures,
    have: (commit) => arrivalsOf(commit).complete.promise,
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

async function clientOf({ world, ports }: Installation, seen: Seen, { plant, name, uid }: GatewayPod): Promise<DeliveryClient> {
  const { namespace } = plant
  const token = await world.token(namespace, 'gateway', { audience: deliveryToken.audience, pod: { name, uid } })
  const caBundle = seen.of(`${namespace}/${plant.name}`)?.delivery?.caBundle ?? ''
  const url = `https://localhost:${ports.delivery}`
  return new ContentClient({ url, caBundle, token: async () => token, namespace, name: plant.name, clock: systemClock })
}

/** Makes the requests of an agent in the same order; contents go to files as they arrive. */
async function fetchInto({ client, commit: from, folder }: Follower, text: string, signal: AbortSignal): Promise<void> {
  const desired = { commit: parseCommitHash(text), profile: 'default' }
  const puts = new Map<string, Put>()
  for await (const batch of client.changes({ ...desired, from: from === null ? null : parseCommitHash(from) }, signal)) {
    for (const change of batch) if (change.op === 'put') puts.set(change.id, change)
  }
  await client.blobs({ ...desired, ids: [...puts.values()].map(({ id }) => id) }, fileSink(folder, puts), signal)
}

function fileSink(folder: string, puts: ReadonlyMap<string, Put>): BlobSink {
  let file = ''
  let chunks: Buffer[] = []
  return {
    begin(id) {
      file = path.join(folder, puts.get(id)?.path ?? id)
      chunks = []
    },
    // A chunk is only valid during the call.
    data: (chunk) => void chunks.push(Buffer.from(chunk)),
    end() {
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, Buffer.concat(chunks))
    },
  }
}
