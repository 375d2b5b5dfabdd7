/**
 * What 100 hostile megabytes at once cost a receiver that is started as in its image.
 */
import { createHmac } from 'node:crypto'
import * as http from 'node:http'
import path from 'node:path'
import t from 'tap'
import { hostileBodies } from '../../../support/hostile-bodies.ts'
import { imageFlags } from '../../../support/image-flags.ts'
import { bundlePrograms, peakWhile, startProcess } from '../../../support/measured-process.ts'
import { memoryCgroup } from '../../../support/memory-cgroup.ts'
import { temporaryFolder } from '../../../support/repository.ts'

/** Of the 128 MiB of a controller the receiver's process leaves out what else one imports and remembers: 22 MiB more at rest. */
const limitMiB = 128 - 22
const calls = 100

void t.test(
  '100 hostile bodies of a megabyte at once are answered within the memory of a small container',
  { timeout: 120_000 },
  async (t) => {
    const source = path.resolve(import.meta.dirname, '../../../support/receiver-process.ts')
    const [program = ''] = await bundlePrograms([source], temporaryFolder(t, 'receiver-memory'))
    t.ok(imageFlags('controller').includes('--expose-gc'), 'the image lets the receiver collect')
    const cgroup = memoryCgroup(limitMiB)
    if (cgroup === undefined) t.comment('no memory cgroup can be made here: what the process holds is measured instead')
    const receiver = await startProcess(program, ['key'], imageFlags('controller'), cgroup)
    t.teardown(async () => {
      await receiver.stop()
      await cgroup?.remove()
    })
    const { url } = await receiver.ask<{ url: string }>({})
    for (const [name, { body, status }] of Object.entries(hostileBodies())) {
      const mac = createHmac('sha256', 'key').update(body).digest('hex')
      const { result, peak } = await peakWhile(receiver.pid, () => Promise.all(Array.from({ length: calls }, () => post(url, body, mac))))
      // Who waits longer than five seconds for room is told so: on a busy machine that is no fault.
      t.ok(
        result.every((answer) => answer === status || answer === 429),
        name,
      )
      t.ok(result.includes(status), name)
      t.ok(peak.anonymousMiB < limitMiB, `${name}: ${Math.round(peak.anonymousMiB)} MiB`)
    }
  },
)

/** The status; 0 when the connection is lost. */
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
