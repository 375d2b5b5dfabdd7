/**
 * Selects the user name to send with a token. Bitbucket requires a specific one; the other hosts check only the token, and get the name from their
 * documentation. Pure.
 */

/** By a label in the host's name; the first match wins. Source: the pages of docs/how-to/git-hosts. */
const users: readonly (readonly [label: RegExp, user: string])[] = [
  [/(?:^|[.-])github(?:[.-]|$)/, 'x-access-token'],
  [/(?:^|[.-])gitlab(?:[.-]|$)/, 'oauth2'],
  [/(?:^|[.-])bitbucket(?:[.-]|$)/, 'x-token-auth'],
]

/** Gitea, Forgejo and Azure DevOps, and GitHub and GitLab on servers of any name, accept every user name with a token. */
const defaultUser = 'x-access-token'

/** The user name to send with a token to `host`. */
export function tokenUser(host: string): string {
  return users.find(([label]) => label.test(host))?.[1] ?? defaultUser
}
