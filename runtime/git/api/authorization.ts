/**
 * Builds the authorization header for each git host's API, and encodes names in its paths. Pure.
 */
import type { StatusProvider } from '../../api/schema/commit-status.ts'
import type { ApiCredentials } from './host-api.ts'

/** The `authorization` header of a request. */
export function apiAuthorization(provider: StatusProvider, credentials: ApiCredentials): string {
  if (provider === 'gitea') return credentials.kind === 'basic' ? basic(credentials) : `token ${credentials.token}`
  if (provider === 'azuredevops') return basic(credentials.kind === 'basic' ? credentials : { username: '', password: credentials.token })
  // GitHub and GitLab accept only a token; if there is also a user name, the token is the password.
  if (provider === 'github' || provider === 'gitlab') return bearer(credentials)
  return credentials.kind === 'basic' ? basic(credentials) : bearer(credentials)
}

/** Encodes a name as one path segment. */
export function namePart(name: string): string {
  return encodeURIComponent(name)
}

function bearer(credentials: ApiCredentials): string {
  return `Bearer ${credentials.kind === 'basic' ? credentials.password : credentials.token}`
}

function basic({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
