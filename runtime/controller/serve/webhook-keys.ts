/**
 * Loads the keys that authenticate webhook calls: the GatewaySync's own if it names some, otherwise the installation's. Files and Secrets
 * are read again after a few seconds, so that a rotation needs no restart.
 */
import { readFile } from 'node:fs/promises'
import type { Clock } from '../../platform/clock.ts'
import { FairCache, keepPromise } from '../../platform/async/fair-cache.ts'
import { asFault, Fault } from '../../platform/fault.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { GetSecret } from '../cluster/secrets.ts'
import { gatherKeys, type Keys, keysIn } from '../../receiver/authenticate.ts'

/** A cache of keys. */
export type PushKeys = {
  /**
   * Returns the keys for calls to one GatewaySync. A configured key that cannot be read becomes a fault next to the other keys. Never
   * throws.
   */
  of(namespace: string, webhook: GatewaySyncSpec['webhook']): Promise<Keys>
}

/** How long a key is cached, so that not every call costs a request to the API server. */
const keptMs = 5_000
/** Of 2,000 keys of the usual size. A key may have up to 4 KiB. */
const maxKeptBytes = 2_000 * 1024

type Files = { hmacFile?: string | undefined; tokenFile?: string | undefined }

/** `files`: where the installation's keys are mounted. */
export function createPushKeys({ getSecret, clock }: { getSecret: GetSecret; clock: Clock }, files: Files): PushKeys {
  const kept = new FairCache<Promise<string[]>>({ max: maxKeptBytes, ttlMs: keptMs, clock })
  const read = (namespace: string, name: string, load: () => Promise<string>): Promise<string[]> => {
    const known = kept.get(name)
    if (known !== undefined) return known
    const keys = load().then(
      (text) => required(text, name),
      (error: unknown) => {
        throw new Fault('AuthNotReady', `${name} cannot be read: ${asFault(error).message}`, { cause: error })
      },
    )
    keepPromise(kept, { owner: namespace, key: name }, keys, (all) => all.join('').length)
    return keys
  }
  const fromFile = async (file: string | undefined): Promise<string[] | undefined> =>
    file === undefined ? undefined : await read('', `file ${file}`, () => readFile(file, 'utf8'))
  const fromSecret = async (namespace: string, ref: { name: string; key: string } | undefined): Promise<string[] | undefined> =>
    ref === undefined
      ? undefined
      : await read(namespace, `Secret ${namespace}/${ref.name}, key ${ref.key}`, () => readSecret(getSecret, namespace, ref))

  return {
    async of(namespace, webhook) {
      const shared = await gatherKeys(
        () => fromFile(files.hmacFile),
        () => fromFile(files.tokenFile),
        asFault,
      )
      const own = webhook?.hmac !== undefined || webhook?.token !== undefined
      const keys = own
        ? await gatherKeys(
            () => fromSecret(namespace, webhook.hmac?.secretRef),
            () => fromSecret(namespace, webhook.token?.secretRef),
            asFault,
          )
        : shared
      return { ...keys, installationFault: shared.fault }
    },
  }
}

/** Identifies the source of the keys: GatewaySyncs of one namespace with the same source have the same keys. */
export function keySource(webhook: GatewaySyncSpec['webhook']): string {
  return JSON.stringify([webhook?.hmac, webhook?.token].map((key) => [key?.secretRef.name, key?.secretRef.key]))
}

/** Throws for a configured key that is empty: it must never leave the receiver without authentication. */
function required(text: string, name: string): string[] {
  const keys = keysIn(text, name)
  if (keys.length === 0) throw new Fault('AuthNotReady', `${name} is empty`)
  return keys
}

async function readSecret(getSecret: GetSecret, namespace: string, { name, key }: { name: string; key: string }): Promise<string> {
  const secret = await getSecret(namespace, name)
  const data = secret?.data ?? {}
  const value = Object.hasOwn(data, key) ? data[key] : undefined
  if (value === undefined) throw new Fault('SecretNotFound', `Secret ${namespace}/${name} has no key ${key}`)
  return Buffer.from(value, 'base64').toString('utf8')
}
