/**
 * The time at which a push reaches the volumes of gateways.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { until } from '../../support/world.ts'
import { type Cluster, type Gateways, patience, volumeOf } from './cluster.ts'

/** Resolves when the file in a gateway's data directory has this text, with the milliseconds since `sinceMs` of `performance.now`. */
export async function arrivalAt(
  cluster: Cluster,
  { gateways, ordinal }: { gateways: Gateways; ordinal: number },
  { file, text, sinceMs }: { file: string; text: string; sinceMs: number },
): Promise<number> {
  const place = path.join(volumeOf(cluster, gateways, ordinal), file)
  await until(
    () => (existsSync(place) && readFileSync(place, 'utf8') === text ? true : undefined),
    `${gateways.namespace}/${gateways.name}-${ordinal} has what was pushed`,
    patience.waitMs,
    5,
  )
  return performance.now() - sinceMs
}

/** The same for the last of all its gateways. */
export async function lastArrival(
  cluster: Cluster,
  gateways: Gateways,
  pushed: { file: string; text: string; sinceMs: number },
): Promise<number> {
  const ordinals = Array.from({ length: gateways.replicas }, (_, ordinal) => ordinal)
  return Math.max(...(await Promise.all(ordinals.map((ordinal) => arrivalAt(cluster, { gateways, ordinal }, pushed)))))
}
