/**
 * Computes the keys that identify source resolutions: whether a result still answers the spec, and whether GatewaySyncs may share an
 * answer. Pure.
 */
import { createHash } from 'node:crypto'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import { canonicalJson } from '../../platform/text/json.ts'

/** Each reconcile needs its keys several times. */
const [specKeys, sharingKeys] = [createDigests(), createDigests()]

/**
 * Key of everything, besides the ref, on which the result of a resolution depends. `uid` is the GatewaySync's; `secretChanges` counts
 * changes of its source's Secrets.
 */
export function specKeyOf(spec: GatewaySyncSpec, uid: string, secretChanges: number): string {
  const { ref: _ref, semver: _range, tagPattern: _pattern, commitStatus: _told, ...git } = spec.git
  const { validation, sync, rollout } = spec
  // Without stages no rolled-back commit is held.
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
 * Key of everything on which a git host's answer depends. Answers are shared between namespaces only if no Secret is named; GatewaySyncs
 * that verify signatures share only with those that verify the same.
 */
export function sharingKeyOf(namespace: string, spec: GatewaySyncSpec, ref: string): string {
  const { repo } = spec.git
  const { auth, caBundle, proxy, verify } = spec.git.oci ?? spec.git
  const secrets = { auth, caBundle, proxy, verify }
  const needsSecret = Object.values(secrets).some((member) => member !== undefined)
  return sharingKeys.of(spec, `${namespace} ${ref}`, () => ({ repo, ref, ...(needsSecret ? { namespace, ...secrets } : {}) }))
}

type Digests = {
  /** Returns the digest of `parts()`, which is called again only for another spec or another `besides` (all other inputs). */
  of(spec: object, besides: string, parts: () => unknown): string
}

/** Caches one digest per spec object while it is in use; specs must not be mutated. */
export function createDigests(): Digests {
  const known = new WeakMap<object, { besides: string; digest: string }>()
  return {
    of(spec, besides, parts) {
      const last = known.get(spec)
      if (last?.besides === besides) return last.digest
      const digest = createHash('sha256').update(canonicalJson(parts())).digest('base64url')
      known.set(spec, { besides, digest })
      return digest
    },
  }
}
