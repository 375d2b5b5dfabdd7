/**
 * Serves the webhook receiver of `cluster-sync run`: one port for the whole run, across versions of the GatewaySync file.
 */
import { type Context, Hono } from 'hono'
import { requestAnnotations } from '../../api/names.ts'
import type { Clock } from '../../platform/clock.ts'
import { remoteOf } from '../../http/client-address.ts'
import { problem } from '../../http/problem.ts'
import type { Log } from '../../platform/log/log.ts'
import { connectionBounds } from '../../receiver/limits.ts'
import { serve, type Served } from '../../http/serve.ts'
import { asFault } from '../../platform/fault.ts'
import { receiverApp } from '../../receiver/app.ts'
import { gatherKeys, keysIn } from '../../receiver/authenticate.ts'
import { targetOf } from '../../receiver/request/choose-ref.ts'
import { SyncIndex } from '../../receiver/request/sync-index.ts'
import { freeRequestSlots, supersededBy } from '../../reconcile/decide/request.ts'
import { isRefused } from '../../reconcile/decide/request-outcomes.ts'
import { readSecret, readSecretFile } from '../../standalone/secrets.ts'
import type { StandaloneSync } from '../../standalone/settings.ts'
import type { RunSettings } from './run-settings.ts'
import type { Standalone } from './standalone.ts'
import type { RunOutput } from '../output/print.ts'

/** `closed` settles when the port is closed, after the signal. */
export type RunReceiver = {
  /** Serves this version from now on. */
  follow(standalone: Standalone, sync: StandaloneSync): void
  closed: Promise<void>
}

type Deps = { clock: Clock; log: Log; output: RunOutput }

/**
 * Listens on `--receiver-host`; without it on all addresses if a key is configured, else on localhost only. Throws InvalidConfiguration when
 * the port cannot be opened.
 */
export async function openRunReceiver(
  { clock, log, output }: Deps,
  { port, first }: { port: number; first: { standalone: Standalone; sync: StandaloneSync } },
  settings: RunSettings,
  signal: AbortSignal,
): Promise<RunReceiver> {
  const versionOf = (standalone: Standalone, sync: StandaloneSync) => {
    const keys = keysOf(settings, sync)
    return {
      answer: receiverOf(standalone, { sync, ...keys }, { clock, log }).fetch,
      isOpen: keys.hmac === undefined && keys.token === undefined,
      path: `/webhook/${sync.namespace}/${sync.name}`,
    }
  }
  let current = versionOf(first.standalone, first.sync)
  const announce = ({ url }: Served): void => output.emit({ event: 'listening', url: `${url}${current.path}`, open: current.isOpen })
  const app = new Hono()
  app.all('*', async (context) => {
    const refusal = current.isOpen ? openCallRefusal(context, settings.receiverHost) : undefined
    return refusal ?? (await current.answer(context.req.raw, context.env))
  })
  const host = settings.receiverHost ?? (current.isOpen ? 'localhost' : '::')
  const served = await serve({ app, port, host, bounds: connectionBounds, log }, signal)
  announce(served)
  return {
    follow(standalone, sync) {
      current = versionOf(standalone, sync)
      announce(served)
    },
    closed: served.closed,
  }
}

const localNames = new Set(['localhost', '127.0.0.1', '[::1]'])
const localAddresses = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])
const everyAddress = new Set(['::', '0.0.0.0'])

/**
 * Why a request to a receiver without a key is refused; undefined: it is accepted. A web page can make a browser on this machine call any local port,
 * under a foreign host name or with a form that needs no permission, so only requests that a web page cannot make are accepted.
 */
function openCallRefusal(context: Context, host: string | undefined): Response | undefined {
  const { req } = context
  const remote = remoteOf(context)
  if (host === undefined && remote !== undefined && !localAddresses.has(remote))
    return problem(
      context,
      403,
      'without a key the webhook receiver accepts calls from this machine only; configure a key or --receiver-host',
    )
  const name = new URL(req.url).hostname
  if (!(host !== undefined && everyAddress.has(host)) && !localNames.has(name) && name !== host)
    return problem(context, 421, `the webhook receiver does not accept the host name "${name}"; use localhost, or configure a key`)
  if (req.header('origin') !== undefined || req.header('sec-fetch-site') !== undefined)
    return problem(context, 403, 'without a key the webhook receiver accepts no calls from web pages; configure a key')
  if (!/^application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i.test(req.header('content-type') ?? '') && req.method === 'POST')
    return problem(context, 415, 'the content type must be application/json', 'UnsupportedMediaType')
  return undefined
}

/** The keys of the GatewaySync, otherwise those of the command line. */
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

/** Without either method, anyone who can reach the receiver may push. */
type ReceiverSettings = {
  sync: StandaloneSync
  /** Read for each request; undefined: the method is not configured. Throws SecretNotFound. */
  hmac: (() => Promise<string>) | undefined
  token: (() => Promise<string>) | undefined
}

/** The webhook receiver of a standalone run: the cluster's own, with one GatewaySync behind it. */
export function receiverOf(
  { objects }: Standalone,
  { sync, hmac, token }: ReceiverSettings,
  { clock, log }: { clock: Clock; log: Log },
): Hono {
  const isOurs = (namespace: string, name: string): boolean => namespace === sync.namespace && name === sync.name
  const index = new SyncIndex()
  index.set(sync.name, { keySource: '' })
  return receiverApp({
    lookup(namespace, name) {
      if (!isOurs(namespace, name)) return undefined
      const { annotations, status } = objects.record()
      return targetOf(sync.spec, annotations, status)
    },
    syncs: (namespace) => (namespace === sync.namespace ? index : new SyncIndex()),
    freeSlots() {
      const { annotations, status } = objects.record()
      return freeRequestSlots(annotations, status)
    },
    isRefused: (_namespace, _name, id) => isRefused(objects.record().status, id),
    async keys() {
      const keys = await gatherKeys(
        async () => (hmac === undefined ? undefined : keysIn(await hmac(), 'the Secret or file of the HMAC key')),
        async () => (token === undefined ? undefined : keysIn(await token(), 'the Secret or file of the token')),
        asFault,
      )
      return { ...keys, installationFault: keys.fault }
    },
    async request(_namespace, _name, annotations, superseded) {
      const { annotations: present, status } = objects.record()
      objects.annotate({ ...annotations, [requestAnnotations.superseded]: supersededBy(annotations, present, status, superseded) })
    },
    notify: (namespace, name, notice) => log.warn({ namespace, name, reason: notice }, 'a push needs attention'),
    observe() {},
    clock,
    log,
  })
}
