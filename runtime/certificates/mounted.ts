/**
 * Serves a certificate that cert-manager or the user renews, from a Secret mounted as a folder. The kubelet swaps the folder's content
 * atomically, but this reads three files, so a mismatched certificate and key are read again later.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Clock } from '../platform/clock.ts'
import { asFault, Fault, isAbort } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import { type RenewedCertificates, createServing, keyMatchesCertificate, readCertificate } from './serving.ts'

/** How often the folder is read; the kubelet itself takes up to a minute to update it. */
const pollIntervalMs = 10_000
/** How long a CA that was removed from the folder stays trusted, until every agent has received the new one. */
const overlapMs = 86_400_000
/** A chain is a few KiB. */
const maxFileBytes = 1024 * 1024

type Files = { certificate: string; key: string; authority: string }

/** Throws InvalidConfiguration naming the missing or damaged file. */
export async function openMounted(
  { clock, log }: { clock: Clock; log: Log },
  { folder }: { folder: string },
): Promise<RenewedCertificates> {
  const trust = createTrust(clock)
  const read = async (): Promise<{ cert: string; key: string; caBundle: string }> => {
    const { certificate, key, authority } = await readFiles(folder)
    return { cert: certificate, key, caBundle: trust(authority) }
  }
  const serving = createServing(await read())
  let failing = false
  return {
    current: serving.current,
    onChange: serving.onChange,
    async run(signal) {
      while (!signal.aborted) {
        try {
          await clock.wait(pollIntervalMs, signal)
          if (serving.show(await read())) log.info({ component: 'certificates' }, 'certificate reloaded')
          failing = false
        } catch (error) {
          if (isAbort(error, signal)) return
          const { reason, message } = asFault(error)
          if (!failing) log.warn({ component: 'certificates', reason, message }, 'mounted certificate cannot be used; the last one is kept')
          failing = true
        }
      }
    },
  }
}

/** Keeps CAs for the overlap after they were last present. */
function createTrust(clock: Clock): (authority: string) => string {
  const seen = new Map<string, number>()
  return (authority) => {
    const nowMs = clock.monotonicMs()
    // Moved to the end and so, reversed below, the present one comes first.
    seen.delete(authority)
    seen.set(authority, nowMs)
    for (const [text, seenMs] of seen) if (nowMs - seenMs > overlapMs) seen.delete(text)
    return [...seen.keys()].toReversed().join('')
  }
}

async function readFiles(folder: string): Promise<Files> {
  // Sequentially, so that of several missing files the same one is always named.
  const files: Files = {
    certificate: await readText(path.join(folder, 'tls.crt')),
    key: await readText(path.join(folder, 'tls.key')),
    authority: await readText(path.join(folder, 'ca.crt')),
  }
  if (!keyMatchesCertificate(files))
    throw new Fault('InvalidConfiguration', `${folder}: tls.crt and tls.key are not a certificate and its key`)
  if (readCertificate(files.authority) === undefined)
    throw new Fault('InvalidConfiguration', `${folder}/ca.crt does not contain a certificate`)
  return files
}

async function readText(file: string): Promise<string> {
  const content = await readFile(file).catch((error: unknown) => {
    throw new Fault('InvalidConfiguration', `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  })
  if (content.byteLength > maxFileBytes) throw new Fault('InvalidConfiguration', `${file} is larger than ${maxFileBytes} bytes`)
  return `${content.toString('utf8').trim()}\n`
}
