/**
 * Opens the pull request for a branch of captures, or updates the text of an open one. Queries the host first, so that a retry creates no
 * second one; a pull request that users closed stays closed, and a new one is opened.
 */
import { Fault } from '../../platform/fault.ts'
import type { StatusProvider } from '../../api/schema/commit-status.ts'
import { causeOf } from '../../http/client.ts'
import { isObject } from '../../platform/text/json.ts'
import type { ApiAnswer, ApiCall } from '../../git/credentials/api-call.ts'
import { type HostApi, isTemporary, retryAfterMs, apiAuthorization } from '../../git/api/host-api.ts'
import { hostedRepository } from '../../git/api/hosted-repository.ts'
import { type Branches, type OpenPullRequest, pullRequestHosts, type PullRequestText } from './hosts.ts'

/** `later`: the same call may succeed later, not before `afterMs`. */
export type Opened = { kind: 'open'; url: string } | { kind: 'later'; fault: Fault; afterMs: number } | { kind: 'refused'; fault: Fault }

type PullRequestTarget = Branches & { provider: StatusProvider; apiBaseURL: string | undefined }

/** A list of pull requests with all fields that hosts return. */
const maxBodyBytes = 4 * 1024 * 1024
const maxTitle = 200

/**
 * `write` writes the text within a number of characters. Throws the signal's reason, RepositoryNotAllowed, GitHostUnknown and
 * CredentialsInvalid.
 */
export async function openPullRequest(
  api: HostApi,
  { provider, apiBaseURL, ...branches }: PullRequestTarget,
  write: (maxText: number) => PullRequestText,
  signal: AbortSignal,
): Promise<Opened> {
  const repository = hostedRepository(api.url, provider, apiBaseURL)
  if (repository === undefined) return refused(`spec.git.repo is not a repository URL of ${provider}`)
  const { names, page } = repository
  const host = pullRequestHosts[provider]
  const { title, text } = write(host.maxText)
  const shortened = { title: title.slice(0, maxTitle).toWellFormed(), text: text.slice(0, host.maxText).toWellFormed() }
  const callApi = async (method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, body?: Record<string, unknown>): Promise<ApiAnswer> => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const headers = { authorization: apiAuthorization(provider, api.credentials), accept: 'application/json', ...type }
    const call: ApiCall = { url: `${repository.api}/${path}`, method, headers, maxBodyBytes }
    return await api.call(body === undefined ? call : { ...call, body: JSON.stringify(body) }, signal)
  }
  const openState = (found: OpenPullRequest): Opened => ({ kind: 'open', url: found.page ?? `${page}/${host.pageOf(found.id)}` })
  try {
    for (let number = 1; number <= host.pages; number += 1) {
      const answer = await callApi('GET', host.list(names, branches, number).path)
      if (!isTaken(answer)) return meaningOf(answer, repository.api)
      const items = host.items(answer.body)
      if (!Array.isArray(items)) return refused(`${hostOf(repository.api)} did not return a list of pull requests`)
      const open = items.filter((item) => isObject(item)).find((item) => host.isBetween(item, branches))
      const known = open === undefined ? undefined : host.read(open)
      if (known !== undefined) {
        const change = host.change(names, known, shortened)
        const changed = await callApi(change.method, change.path, change.body)
        return isTaken(changed) ? openState(known) : meaningOf(changed, repository.api)
      }
      if (items.length === 0) break
    }
    const { path, body } = host.create(names, branches, shortened)
    const created = await callApi('POST', path, body)
    if (!isTaken(created)) return meaningOf(created, repository.api)
    const made = isObject(created.body) ? host.read(created.body) : undefined
    return made === undefined ? refused(`${hostOf(repository.api)} did not return the pull request that it opened`) : openState(made)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Fault) throw error
    return { kind: 'later', fault: new Fault('PullRequestFailed', causeOf(error)), afterMs: 0 }
  }
}

function isTaken({ status }: ApiAnswer): boolean {
  return status >= 200 && status < 300
}

function hostOf(api: string): string {
  return new URL(api).host
}

function meaningOf(answer: ApiAnswer, api: string): Opened {
  const where = `${hostOf(api)} answered ${answer.status}`
  if (isTemporary(answer)) return { kind: 'later', fault: new Fault('PullRequestFailed', where), afterMs: retryAfterMs(answer) ?? 0 }
  return refused(`${where}${advice(answer.status)}`)
}

function refused(why: string): Opened {
  return { kind: 'refused', fault: new Fault('PullRequestRefused', why) }
}

/** Uses only the status: the body is untrusted text. */
function advice(status: number): string {
  if (status === 401) return ': it rejects the credentials'
  if (status === 403) return ': the credentials may not open pull requests'
  if (status === 404) return ': it has no such repository or branch, or hides it from these credentials'
  if (status === 400 || status === 422) return ': it does not accept a pull request from this branch to spec.git.ref'
  return ''
}
