/**
 * Derives user name and groups from the claims of an identity provider, as the API server does. Pure.
 */
import type { Person } from '../views/page-auth.ts'

type NamedGroups = readonly string[]

const maxNameLength = 256
const maxPersonGroups = 100
/** Names reserved by Kubernetes: an external login must not grant the permissions of a cluster component. */
const reservedPrefix = 'system:'
const authenticatedGroup = 'system:authenticated'

/** Returns undefined for an invalid user name; omits invalid groups. */
export function personNamed(
  named: string,
  groups: NamedGroups,
  { usernamePrefix, groupsPrefix }: { usernamePrefix: string; groupsPrefix: string },
): Person | undefined {
  const name = `${usernamePrefix}${named}`
  if (named === '' || hasSpaceAround(named) || name.length > maxNameLength || /\p{Cc}/u.test(name) || name.startsWith(reservedPrefix))
    return undefined
  const own = groups
    .filter((group) => group !== '' && !hasSpaceAround(group) && group.length <= maxNameLength && !/\p{Cc}/u.test(group))
    .map((group) => `${groupsPrefix}${group}`)
    .filter((group) => !group.startsWith(reservedPrefix))
  return { name, groups: [...new Set(own)].slice(0, maxPersonGroups).concat(authenticatedGroup) }
}

/** A component that trims the name would mistake it for another one. */
function hasSpaceAround(text: string): boolean {
  return text !== text.trim()
}

/** The same settings as the API server's `--oidc-*` flags, so that a user has the same identity in both. */
export type ClaimSettings = { usernameClaim: string; groupsClaim: string; usernamePrefix: string; groupsPrefix: string }

/** `noName`: the claim is missing or invalid; `unverified`: the provider has not verified the email address; `overage`: too many groups. */
export type NotAPerson = 'noName' | 'unverified' | 'overage'

/** Claims of an ID token, or of the userinfo endpoint (OpenID Connect Core 1.0, 5.1). */
export type Claims = Readonly<Record<string, unknown>>

/** More groups do not fit into one cookie, and exceed what role bindings use. */
const maxGroups = 100

/** The user name and groups for RBAC, with their prefixes, or why the claims are rejected. Never throws. */
export function personByClaims(
  claims: Claims,
  { usernameClaim, groupsClaim, usernamePrefix, groupsPrefix }: ClaimSettings,
): Person | NotAPerson {
  const name = claims[usernameClaim]
  if (typeof name !== 'string') return 'noName'
  // As --oidc-username-claim=email of the API server.
  if (usernameClaim === 'email' && 'email_verified' in claims && claims['email_verified'] !== true) return 'unverified'
  const groups = groupsOf(claims, groupsClaim)
  if (groups === 'overage') return groups
  return personNamed(name, groups, { usernamePrefix, groupsPrefix }) ?? 'noName'
}

/** Whether the userinfo endpoint is needed, because the ID token lacks a claim. */
export function isIncomplete(
  claims: Claims,
  { usernameClaim, groupsClaim }: Pick<ClaimSettings, 'usernameClaim' | 'groupsClaim'>,
): boolean {
  return !(usernameClaim in claims) || (!(groupsClaim in claims) && !hasDistributed(claims, groupsClaim))
}

function groupsOf(claims: Claims, groupsClaim: string): NamedGroups | 'overage' {
  // Distributed claims: the provider names an endpoint instead of the groups (OpenID Connect Core 1.0, 5.6.2).
  if (!(groupsClaim in claims) && hasDistributed(claims, groupsClaim)) return 'overage'
  const value = claims[groupsClaim]
  const named = typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
  return named.length > maxGroups ? 'overage' : named
}

function hasDistributed(claims: Claims, groupsClaim: string): boolean {
  const names = claims['_claim_names']
  return typeof names === 'object' && names !== null && groupsClaim in names
}

/** The values that the browser must return, and the PKCE verifier that authenticates the origin of the request to the provider. */
export type Attempt = { state: string; nonce: string; verifier: string }

/** `error` is the OAuth 2.0 error code. `failed`: the response is not valid; the log has the reason. */
type Finished = { kind: 'claims'; claims: Claims } | { kind: 'refused'; error: string } | { kind: 'failed' }

export type Provider = {
  /** The URL to log in. Undefined if the provider cannot be reached. */
  begin(): Promise<{ url: string; attempt: Attempt } | undefined>
  /** `query`: the query that the browser returned. `refused`: with the OAuth 2.0 error code. Never throws. */
  finish(query: string, attempt: Attempt): Promise<Finished>
  /** The URL to log out at the provider; undefined if not supported. Never throws. */
  logoutUrl(): Promise<string | undefined>
}
