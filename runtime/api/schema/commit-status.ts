/**
 * Defines the commit status on the git host: `spec.git.commitStatus`. Pure.
 */
import * as v from 'valibot'
import { secretKeyRef } from './fields.ts'

/** The git host APIs with commit statuses, with Flux's names; `gitea` includes Forgejo. */
export const statusProviders = ['github', 'gitlab', 'gitea', 'bitbucket', 'bitbucketserver', 'azuredevops'] as const

export type StatusProvider = (typeof statusProviders)[number]

/** How the API of the git host is reached; `otherwise` names the credentials used without a secretRef. */
export const hostApi = (otherwise: string) => ({
  provider: v.pipe(
    v.picklist(statusProviders),
    v.description('API of the git host. Use gitea for Forgejo, bitbucket for bitbucket.org and bitbucketserver for Bitbucket Data Center.'),
  ),
  secretRef: v.optional(
    v.pipe(
      secretKeyRef,
      v.description(
        `Key of a Secret in the same namespace that contains the access token of the API. Defaults to the credentials of ${otherwise}.`,
      ),
    ),
  ),
  apiBaseURL: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(2048),
      v.regex(/^https:\/\/[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(\/[A-Za-z0-9._~/-]*)?$/, 'must be an https URL'),
      v.description(
        'Base URL of the API, such as https://git.example.com:8443/api/v1. Defaults to the standard URL of the provider on the host of the repository.',
      ),
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
      v.regex(
        /^[A-Za-z0-9][A-Za-z0-9 ._/:-]*$/,
        'must begin with a letter or digit and contain only letters, digits, spaces and . _ / : -',
      ),
      v.description(
        'Name of the status on the git host. Defaults to cluster-sync/<namespace>/<name>. Use a different name for each cluster.',
      ),
    ),
  ),
})
