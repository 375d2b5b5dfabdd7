/**
 * Who somebody is by the claims of an identity provider, as the API server reads them. Pure.
 */
import { type NamedGroups, personNamed } from '../named-person.ts'
import type { Person } from '../people.ts'

/** The same four settings as the API server's `--oidc-*` flags, so that somebody is the same person there and here. */
export type ClaimSettings = { usernameClaim: string; groupsClaim: string; usernamePrefix: string; groupsPrefix: string }

/** `noName`: the claim is missing or no name; `unverified`: an address that the provider has not confirmed; `overage`: too many groups. */
export type NotAPerson = 'noName' | 'unverified' | 'overage'

/** Claims of an ID token, or of the userinfo endpoint (OpenID Connect Core 1.0, 5.1). */
export type Claims = Readonly<Record<string, unknown>>

/** More groups than a browser keeps in one cookie are more than anybody binds a role to. */
const maxGroups = 100

/** The name and groups that RBAC knows somebody by, with their prefixes, or why there is no such person. Never throws. */
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
  return personNamed(name, groups, { userPrefix: usernamePrefix, groupsPrefix }) ?? 'noName'
}

/** Whether the userinfo endpoint has to be asked, because the ID token leaves out what is needed. */
export function isIncomplete(
  claims: Claims,
  { usernameClaim, groupsClaim }: Pick<ClaimSettings, 'usernameClaim' | 'groupsClaim'>,
): boolean {
  return !(usernameClaim in claims) || (!(groupsClaim in claims) && !hasDistributed(claims, groupsClaim))
}

function groupsOf(claims: Claims, groupsClaim: string): NamedGroups | 'overage' {
  // The provider says where else they can be asked, instead of naming them (OpenID Connect Core 1.0, 5.6.2).
  if (!(groupsClaim in claims) && hasDistributed(claims, groupsClaim)) return 'overage'
  const value = claims[groupsClaim]
  const named = typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
  return named.length > maxGroups ? 'overage' : named
}

function hasDistributed(claims: Claims, groupsClaim: string): boolean {
  const names = claims['_claim_names']
  return typeof names === 'object' && names !== null && groupsClaim in names
}
