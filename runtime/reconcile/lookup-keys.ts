/**
 * The keys by which lookups are compared: whether a result still answers the spec, and whether one GatewaySync may use the answer that another
 * one got. Pure.
 */
import type { GatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import { createDigests } from './digests.ts'

/** Each pass needs its keys several times. */
const [specKeys, sharingKeys] = [createDigests(), createDigests()]

/**
 * Of everything, besides the ref, on which the result of a lookup depends. `uid` is the GatewaySync's, `secretChanges`
 * how often the Secrets of its source have changed.
 */
export function specKeyOf(spec: GatewaySyncSpec, uid: string, secretChanges: number): string {
  const { ref: _ref, commitStatus: _told, ...git } = spec.git
  const { validation, sync, rollout } = spec
  // Without stages nothing is held back that was rolled back with them.
  const staged = rollout === undefined && !sync.rollbackOnFailedScan ? {} : { staged: true }
  return specKeys.of(spec, `${uid} ${secretChanges}`, () => ({
    uid,
    git,
    secretChanges,
    validation,
    profiles: sync.profiles,
    excludes: sync.defaults.excludePatterns,
    ...staged,
  }))
}

/**
 * Of everything on which a git host's answer depends. Answers are shared between namespaces only if no Secret is named; GatewaySyncs that verify
 * signatures share only with those that verify the same.
 */
export function sharingKeyOf(namespace: string, spec: GatewaySyncSpec, ref: string): string {
  const { repo, auth, caBundle, proxy, verify } = spec.git
  const secrets = { auth, caBundle, proxy, verify }
  const needsSecret = Object.values(secrets).some((member) => member !== undefined)
  return sharingKeys.of(spec, `${namespace} ${ref}`, () => ({ repo, ref, ...(needsSecret ? { namespace, ...secrets } : {}) }))
}
