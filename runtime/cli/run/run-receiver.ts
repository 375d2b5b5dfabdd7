/**
 * The push receiver of a run: one port for the whole run, whatever version of the file with the GatewaySync is followed.
 */
import type { Hono } from 'hono'
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import { connectionBounds } from '../../receiver/limits.ts'
import { serve, type Served } from '../../serve.ts'
import { readSecret, readSecretFile } from '../../standalone/secrets.ts'
import type { StandaloneSync } from '../../standalone/settings.ts'
import { receiverOf, type ReceiverSettings } from './receiver.ts'
import type { RunSettings } from './run-settings.ts'
import type { Standalone } from './standalone.ts'
import type { Story } from '../story/tell.ts'

/** `closed` settles when the port is closed, after the signal. */
export type RunReceiver = {
  /** Answers for this version from now on. */
  follow(standalone: Standalone, sync: StandaloneSync): void
  closed: Promise<void>
}

type Deps = { clock: Clock; log: Log; story: Story }

/** Throws InvalidConfiguration when the port cannot be opened. */
export async function openRunReceiver(
  { clock, log, story }: Deps,
  { port, first }: { port: number; first: { standalone: Standalone; sync: StandaloneSync } },
  settings: RunSettings,
  signal: AbortSignal,
): Promise<RunReceiver> {
  let answer: Hono['fetch']
  const answerFor = (standalone: Standalone, sync: StandaloneSync): ReceiverSettings => {
    const keys = keysOf(settings, sync)
    answer = receiverOf(standalone, { sync, ...keys }, { clock, log }).fetch
    return { sync, ...keys }
  }
  const tell = (served: Served, { sync, hmac, token }: ReceiverSettings): void => {
    const url = `${served.url}/webhook/${sync.namespace}/${sync.name}`
    story.tell({ event: 'listening', url, open: hmac === undefined && token === undefined })
  }
  const initial = answerFor(first.standalone, first.sync)
  const app: Pick<Hono, 'fetch'> = { fetch: (...call) => answer(...call) }
  const served = await serve({ app, port, host: '::', bounds: connectionBounds, log }, signal)
  tell(served, initial)
  return { follow: (standalone, sync) => tell(served, answerFor(standalone, sync)), closed: served.closed }
}

/** The keys of the GatewaySync itself, else those of the command line. */
function keysOf(
  { secrets, hmacSecretFile, tokenFile }: RunSettings,
  { spec: { webhook } }: StandaloneSync,
): Pick<ReceiverSettings, 'hmac' | 'token'> {
  const fromFile = (file: string | undefined, option: string) =>
    file === undefined ? undefined : async () => await readSecretFile(file, option)
  if (webhook?.hmac === undefined && webhook?.token === undefined)
    return { hmac: fromFile(hmacSecretFile, '--hmac-secret-file'), token: fromFile(tokenFile, '--token-file') }
  const fromSecret = (path: string, ref: { name: string; key: string }) => async () => await readSecret(secrets, ref, path)
  return {
    hmac: webhook.hmac === undefined ? undefined : fromSecret('spec.webhook.hmac', webhook.hmac.secretRef),
    token: webhook.token === undefined ? undefined : fromSecret('spec.webhook.token', webhook.token.secretRef),
  }
}
