/**
 * Tests the memory of a receiver, started as in its image, under 100 concurrent bodies: hostile ones of a megabyte, and pushes of the largest
 * size.
 */
import { createHmac } from 'node:crypto'
import * as http from 'node:http'
import path from 'node:path'
import t from 'tap'
import { bodyLimits } from '../../../../runtime/receiver/limits.ts'
import { hostileBodies } from '../../../support/hostile-bodies.ts'
import { imageFlags } from '../../../support/image-flags.ts'
import { bundlePrograms, peakWhile, startProcess } from '../../../support/measured-process.ts'
import { memoryCgroup } from '../../../support/memory-cgroup.ts'
import { temporaryFolder } from '../../../support/repository.ts'

/** A controller has 128 MiB. The receiver process does not load the rest of the controller, which uses 22 MiB at rest. */
const limitMiB = 128 - 22
const calls = 100
/** On a slow machine the bodies that are read at the same time take longer than the deadline of a call. */
const requestTimeoutMs = 120_000

void t.test(
  '100 concurrent bodies, hostile or of 25 MiB, are answered within the memory of a small container',
  { timeout: 600_000 },
  async (t) => {
    const source = path.resolve(import.meta.dirname, '../../../support/receiver-process.ts')
    const [program = ''] = await bundlePrograms([source], temporaryFolder(t, 'receiver-memory'))
    t.ok(imageFlags('controller').includes('--expose-gc'), 'the image lets the receiver collect')
    const cgroup = memoryCgroup(limitMiB)
    if (cgroup === undefined) t.comment('no memory cgroup can be made here: what the process holds is measured instead')
    const receiver = await startProcess(program, ['key', '0', String(requestTimeoutMs)], imageFlags('controller'), cgroup)
    t.teardown(async () => {
      await receiver.stop()
      await cgroup?.remove()
    })
    const { url } = await receiver.ask<{ url: string }>({})
    const largest = pushOfManyFiles()
    t.equal(largest.length, bodyLimits.maxBytes)
    const bodies = { ...hostileBodies(), 'a push of many files': { body: largest, status: 202 } }
    for (const [name, { body, status }] of Object.entries(bodies)) {
      const mac = createHmac('sha256', 'key').update(body).digest('hex')
      const { result, peak } = await peakWhile(receiver.pid, () => Promise.all(Array.from({ length: calls }, () => post(url, body, mac))))
      // A call that waits longer than five seconds for memory gets 429; its connection may break off while a large body is still sent.
      const expected = new Set([status, 429, ...(body === largest ? [0] : [])])
      t.ok(
        result.every((answer) => expected.has(answer)),
        name,
      )
      t.ok(result.includes(status), name)
      t.ok(peak.anonymousMiB < limitMiB, `${name}: ${Math.round(peak.anonymousMiB)} MiB`)
    }
  },
)

/** Fills the size limit of a body. All bodies together are twenty times the memory of the container. */
function pushOfManyFiles(): Buffer {
  const added = Array.from({ length: 240_000 }, (_, index) => `projects/${'x'.repeat(80)}/${index}/view.json`)
  const text = JSON.stringify({ ref: 'main', commits: [{ added }] })
  return Buffer.from(text.padEnd(bodyLimits.maxBytes))
}

/** Returns the status, or 0 when the connection is lost. */
function post(url: string, body: Buffer, mac: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length, 'x-hub-signature-256': `sha256=${mac}` }
    const request = http.request(`${url}/webhook/default/plant`, { method: 'POST', agent: false, headers }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    request.on('error', () => resolve(0))
    request.end(body)
  })
}
