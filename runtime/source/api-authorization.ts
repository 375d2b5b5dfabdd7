/**
 * How each git host's API is told who calls, and how names stand in its paths. Pure.
 */
import type { StatusProvider } from '../gatewaysync/schema/commit-status.ts'
import type { ApiCredentials } from './host-api.ts'

/** The header `authorization` of a call. */
export function apiAuthorization(provider: StatusProvider, credentials: ApiCredentials): string {
  if (provider === 'gitea') return credentials.kind === 'basic' ? basic(credentials) : `token ${credentials.token}`
  if (provider === 'azuredevops') return basic(credentials.kind === 'basic' ? credentials : { username: '', password: credentials.token })
  // GitHub and GitLab take a token only; where there is a user beside it, the token is the password.
  if (provider === 'github' || provider === 'gitlab') return bearer(credentials)
  return credentials.kind === 'basic' ? basic(credentials) : bearer(credentials)
}

/** A name as one part of a path. */
export function namePart(name: string): string {
  return encodeURIComponent(name)
}

function bearer(credentials: ApiCredentials): string {
  return `Bearer ${credentials.kind === 'basic' ? credentials.password : credentials.token}`
}

function basic({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
