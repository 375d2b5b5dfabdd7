/**
 * Registers `cluster-sync trigger`: sends a valid request to the webhook receiver, to check that it responds and accepts the key.
 */
import { createHmac } from 'node:crypto'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { systemClock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import { isRefName, shortRef } from '../api/values.ts'
import { readNamedFile } from './named-files.ts'
import { helpFooter } from './command.ts'
import { print, printError, standardOutput } from './output/output.ts'

const timeoutMs = 15_000
const maxAnswerBytes = 64 * 1024
const maxKeyFileBytes = 64 * 1024

/** The body of each event, from which the receiver reads the ref. */
const events = {
  release: (ref) => ({ action: 'published', release: { tag_name: shortRef(ref) } }),
  notification: (ref) => ({ app: { metadata: { annotations: { 'git.ref': ref } } } }),
  promotion: (ref) => ({ freight: { commits: [{ [ref.startsWith('refs/heads/') ? 'branch' : 'tag']: shortRef(ref) }] } }),
  generic: (ref) => ({ ref }),
  'github-push': (ref) => ({
    ref: ref.startsWith('refs/') ? ref : `refs/heads/${ref}`,
    before: '0'.repeat(40),
    after: 'f'.repeat(40),
    created: true,
    deleted: false,
  }),
} as const satisfies Record<string, (ref: string) => unknown>

type Event = keyof typeof events
type Options = { ref: string; event: Event; hmacSecretFile?: string; tokenFile?: string }

export function register(program: Command): void {
  program
    .command('trigger')
    .summary('Call a webhook receiver as a git host does')
    .description('Call a webhook receiver as a git host does, to request the ref for its gateways, and print the response.')
    .argument('<url>', 'URL of the receiver, https://host/webhook/<namespace>/<name>', receiverUrl)
    .option('--ref <ref>', 'branch or tag to request', refName, 'main')
    .addOption(new Option('--event <event>', 'kind of event to send').choices(Object.keys(events)).default('generic'))
    .option('--hmac-secret-file <file>', 'file with the HMAC secret; its first line signs the call')
    .option('--token-file <file>', 'file with the bearer token; its first line is sent')
    .addHelpText('after', helpFooter({ exits: { 0: 'a 2xx response', 1: 'another response, or none', 2: 'invalid options' } }))
    .action(async (url: URL, options: Options) => {
      process.exitCode = await trigger(url, await callOf(options), options)
    })
}

type Call = { body: string; headers: Record<string, string> }

/** Throws InvalidConfiguration when a key cannot be read. */
async function callOf({ ref, event, hmacSecretFile, tokenFile }: Options): Promise<Call> {
  const body = JSON.stringify(events[event](ref))
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (event === 'github-push') Object.assign(headers, { 'x-github-event': 'push', 'x-github-delivery': systemClock.uuid() })
  if (hmacSecretFile !== undefined) {
    const mac = createHmac('sha256', await keyIn(hmacSecretFile, '--hmac-secret-file'))
      .update(body)
      .digest('hex')
    headers['x-hub-signature-256'] = `sha256=${mac}`
  }
  if (tokenFile !== undefined) headers['authorization'] = `Bearer ${await keyIn(tokenFile, '--token-file')}`
  return { body, headers }
}

/** Returns the exit code. A redirect is not followed: it could send the token to another host. */
async function trigger(url: URL, { body, headers }: Call, { event }: Options): Promise<0 | 1> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal })
    const text = await textOf(answer)
    if (text !== '') print(standardOutput(), [text.replace(/\n$/, '')])
    if (answer.ok) return 0
    printError(`${url.host} answered ${answer.status} to the ${event} call`)
  } catch (error) {
    const { causeOf } = await import('../http/client.ts')
    printError(`${url.host} cannot be called: ${causeOf(innermost(error))}`)
  }
  return 1
}

/** The innermost cause: fetch hides the actual error there. */
function innermost(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error && error.cause.message !== '' ? error.cause : error
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    size += chunk.byteLength
    if (size >= maxAnswerBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxAnswerBytes).toString('utf8')
}

async function keyIn(file: string, option: string): Promise<string> {
  const { keysIn } = await import('../receiver/authenticate.ts')
  const [key] = keysIn(readNamedFile(file, `${option}: ${file}`, maxKeyFileBytes), `${option}: ${file}`)
  if (key === undefined) throw new Fault('InvalidConfiguration', `${option}: ${file} is empty`)
  return key
}

function receiverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new InvalidArgumentError('must be an http(s) URL.')
  if (url.username !== '' || url.password !== '') throw new InvalidArgumentError('must not contain a user or password.')
  return url
}

function refName(text: string): string {
  if (isRefName(text)) return text
  throw new InvalidArgumentError('must be the name of a branch or tag that git accepts.')
}
