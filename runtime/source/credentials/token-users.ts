/**
 * Which user name goes with a token. Bitbucket wants this one; the other hosts look at the token alone and are sent the name that their
 * documentation shows. Pure.
 */

/** By what the host's name holds as a label; the first that fits. Source: the pages of docs/git-hosts. */
const users: readonly (readonly [label: RegExp, user: string])[] = [
  [/(?:^|[.-])github(?:[.-]|$)/, 'x-access-token'],
  [/(?:^|[.-])gitlab(?:[.-]|$)/, 'oauth2'],
  [/(?:^|[.-])bitbucket(?:[.-]|$)/, 'x-token-auth'],
]

/** Gitea, Forgejo and Azure DevOps, and GitHub and GitLab under any name of their server, take every user name beside a token. */
const usualUser = 'x-access-token'

/** The user name that a git host expects beside a token: some hosts look at it, the others take any. */
export function tokenUser(host: string): string {
  return users.find(([label]) => label.test(host))?.[1] ?? usualUser
}
