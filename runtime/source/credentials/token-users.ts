/**
 * Which user name goes with a token. Bitbucket requires a certain one; the other hosts check the token only, and are sent the name that
 * their documentation shows. Pure.
 */

/** By a label in the host's name; the first match wins. Source: the pages of docs/git-hosts. */
const users: readonly (readonly [label: RegExp, user: string])[] = [
  [/(?:^|[.-])github(?:[.-]|$)/, 'x-access-token'],
  [/(?:^|[.-])gitlab(?:[.-]|$)/, 'oauth2'],
  [/(?:^|[.-])bitbucket(?:[.-]|$)/, 'x-token-auth'],
]

/** Gitea, Forgejo and Azure DevOps, and GitHub and GitLab on servers of any name, accept every user name with a token. */
const usualUser = 'x-access-token'

/** The user name to send with a token to `host`. */
export function tokenUser(host: string): string {
  return users.find(([label]) => label.test(host))?.[1] ?? usualUser
}
