/**
 * Which user name a git host wants beside a token. Hosts that look at the token alone take any, so one table serves every host. Pure.
 */

/** By what the host's name holds as a label; the first that fits. Source: the pages of docs/git-hosts. */
const users: readonly (readonly [label: RegExp, user: string])[] = [
  [/(?:^|[.-])github(?:[.-]|$)/, 'x-access-token'],
  [/(?:^|[.-])gitlab(?:[.-]|$)/, 'oauth2'],
  [/(?:^|[.-])bitbucket(?:[.-]|$)/, 'x-token-auth'],
]

/** GitHub, Gitea, Forgejo and Azure DevOps take any name beside a token; GitLab and Bitbucket do not. */
const usualUser = 'x-access-token'

export function tokenUser(host: string): string {
  return users.find(([label]) => label.test(host))?.[1] ?? usualUser
}
