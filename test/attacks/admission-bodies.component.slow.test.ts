/**
 * The admission webhook under request bodies that would take many times their size in memory if they were parsed.
 */
import * as http from 'node:http'
import path from 'node:path'
import t from 'tap'
import { imageFlags } from '../support/image-flags.ts'
import { bundlePrograms, peakWhile, startProcess } from '../support/measured-process.ts'
import { chartPod } from '../support/pods.ts'
import { temporaryFolder } from '../support/repository.ts'

const mebibyte = 1024 * 1024
/** The controller's limit of 128 MiB, less the memory of modules and data that this process does not load. */
const limitMiB = 128 - 22
const calls = 40

function of(unit: string, bytes: number): string {
  return unit.repeat(Math.floor(bytes / unit.length))
}

const bodies: Record<string, { body: string; statuses: readonly number[] }> = {
  'three mebibytes of nesting': { body: of('[', 3 * mebibyte), statuses: [413] },
  'two mebibytes of nesting': { body: of('[', 2 * mebibyte), statuses: [413] },
  'two mebibytes of objects': { body: `[${of('{},', 2 * mebibyte - 8)}{}]`, statuses: [413] },
  'two mebibytes of keys': { body: `{${of('"a":1,', 2 * mebibyte - 16)}"b":1}`, statuses: [413] },
  'two mebibytes of one text': { body: `"${of('x', 2 * mebibyte - 2)}"`, statuses: [400] },
  'sixty kibibytes of objects': { body: `[${of('{},', 60 * 1024)}{}]`, statuses: [400, 413] },
}

void t.test('admission answers pods and stays within its memory while it receives hostile bodies', { timeout: 600_000 }, async (t) => {
  const source = path.resolve(import.meta.dirname, '../support/programs/admission.ts')
  const [program = ''] = await bundlePrograms([source], temporaryFolder(t, 'admission-bodies'))
  const admission = await startProcess(program, [], imageFlags('controller'))
  t.teardown(async () => admission.stop())
  const { url } = await admission.ask<{ url: string }>({})
  for (const [name, { body, statuses }] of Object.entries(bodies)) {
    const { result, peak } = await peakWhile(admission.pid, async () => {
      const hostile = Promise.all(Array.from({ length: calls }, async () => await post(url, body, '127.0.0.2')))
      const pods = await Promise.all(Array.from({ length: 5 }, async () => await post(url, review(), '127.0.0.1')))
      return { hostile: await hostile, pods }
    })
    t.strictSame(new Set(result.pods), new Set([200]), `${name}: pods are answered`)
    // The limiter answers 429 after twenty failures, and a connection with an unread body may be reset before its answer arrives.
    t.ok(
      result.hostile.every((status) => [...statuses, 429, 0].includes(status)),
      `${name}: ${[...new Set(result.hostile)].join(', ')}`,
    )
    t.ok(peak.anonymousMiB < limitMiB, `${name}: ${Math.round(peak.anonymousMiB)} MiB`)
  }
  t.equal(await post(url, review(), '127.0.0.1'), 200, 'the process is still there')
})

function review(): string {
  const request = { uid: 'u-1', namespace: 'plant', operation: 'CREATE', object: chartPod() }
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request })
}

/** The status, or 0 if the connection is lost. */
function post(url: string, body: string, localAddress: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const request = http.request(`${url}/mutate`, { method: 'POST', agent: false, headers, localAddress }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    request.on('error', () => resolve(0))
    request.end(body)
  })
}
