/**
 * What the git host is told of a commit: `spec.git.commitStatus`. Pure.
 */
import * as v from 'valibot'
import { secretKeyRef } from './fields.ts'

/** The APIs of git hosts that take a commit status, by the names that Flux has for them; `gitea` is that of Forgejo too. */
export const statusProviders = ['github', 'gitlab', 'gitea', 'bitbucket', 'bitbucketserver', 'azuredevops'] as const

export type StatusProvider = (typeof statusProviders)[number]

/** How the API of the git host is reached; `otherwise` are the credentials that it is called with where it has no secretRef. */
export const hostApi = (otherwise: string) => ({
  provider: v.pipe(
    v.picklist(statusProviders),
    v.description('API of the git host: gitea for Forgejo too, bitbucket for bitbucket.org, bitbucketserver for Bitbucket Data Center.'),
  ),
  secretRef: v.optional(
    v.pipe(
      secretKeyRef,
      v.description(`A key of a Secret in the same namespace with the access token for the API. Default: the credentials of ${otherwise}.`),
    ),
  ),
  apiURL: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(2048),
      v.regex(/^https:\/\/[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(\/[A-Za-z0-9._~/-]*)?$/, 'must be an https URL'),
      v.description('Base of the API where it is not the usual one of provider and host, such as https://git.example.com:8443/api/v1.'),
    ),
  ),
})

/** The schema of `spec.git.commitStatus`. */
export const commitStatus = v.object({
  ...hostApi('spec.git.auth'),
  context: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(100),
      v.regex(/^[A-Za-z0-9][A-Za-z0-9 ._/:-]*$/, 'must begin with a letter or digit and hold only those, spaces and . _ / : -'),
      v.description('Name of the status at the host. Default: cluster-sync/<namespace>/<name>. Two clusters need different ones.'),
    ),
  ),
})
