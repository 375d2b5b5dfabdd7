/**
 * Admission over real HTTP, bundled and in its own process that starts as in its image: the answer time at a steady rate, alone and under
 * hostile bodies that another peer sends without pause, and the memory that those take.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import * as http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { systemClock } from '../../runtime/platform/clock.ts'
import { imageFlags } from '../support/image-flags.ts'
import { bundlePrograms, memoryOf, peakWhile, startProcess } from '../support/measured-process.ts'
import { chartPod } from '../support/pods.ts'
import { type Figure, percentile } from './figures.ts'

/** More pods than a cluster starts in a second. */
const perSecond = 50
const atOnce = 16
const source = path.resolve(import.meta.dirname, '../support/programs/admission.ts')
const [apiServer, attacker] = ['127.0.0.1', '127.0.0.2']

/** `rounds`: reviews of each measurement. */
export async function run({ rounds = 500 }: { rounds?: number }): Promise<Figure[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cluster-sync-admission-'))
  try {
    const [program = ''] = await bundlePrograms([source], folder)
    const admission = await startProcess(program, [], imageFlags('controller'))
    const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce, localAddress: apiServer })
    try {
      const { url } = await admission.ask<{ url: string }>({})
      const review = async (): Promise<void> => {
        const status = await post(url, reviewOf(), { agent })
        if (status !== 200) throw new Error(`a review was answered ${status}`)
      }
      for (let index = 0; index < 100; index += 1) await review()
      const restMiB = memoryOf(admission.pid).anonymousMiB
      const figures = [
        ...(await atRate('alone', rounds, review)),
        { name: 'anonymous memory at rest', value: Math.round(restMiB), unit: 'MiB' },
      ]
      for (const [name, body] of Object.entries(hostile())) {
        const { result, peak } = await peakWhile(
          admission.pid,
          async () => await underAttack(url, body, () => atRate(name, rounds, review)),
        )
        figures.push(...result, { name: `anonymous memory at most, ${name}`, value: Math.round(peak.anonymousMiB), unit: 'MiB' })
      }
      return figures
    } finally {
      agent.destroy()
      await admission.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function hostile(): Record<string, string> {
  const bytes = 2 * 1024 * 1024 - 16
  return { 'under 2 MiB of nesting': '['.repeat(bytes), 'under 2 MiB of objects': `[${'{},'.repeat(bytes / 3)}{}]` }
}

/** While the work runs, several callers send the body repeatedly. */
async function underAttack<Result>(url: string, body: string, work: () => Promise<Result>): Promise<Result> {
  let over = false
  const flood = Array.from({ length: atOnce }, async () => {
    while (!over) await post(url, body, { agent: false, localAddress: attacker })
  })
  try {
    return await work()
  } finally {
    over = true
    await Promise.all(flood)
  }
}

/** Reviews start on schedule, however long answers take. */
async function atRate(name: string, rounds: number, review: () => Promise<void>): Promise<Figure[]> {
  const startMs = performance.now()
  const times = await Promise.all(
    Array.from({ length: rounds }, async (_, index) => {
      const dueMs = startMs + (index * 1_000) / perSecond
      await systemClock.wait(Math.max(0, dueMs - performance.now()))
      await review()
      return performance.now() - dueMs
    }),
  )
  return [50, 99].map((p) => ({ name: `review at ${perSecond} a second ${name}, p${p}`, value: percentile(times, p), unit: 'ms' }))
}

function reviewOf(): string {
  const request = { uid: 'u-1', namespace: 'plant', operation: 'CREATE', object: chartPod() }
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request })
}

/** The status, or 0 if the connection is lost. */
function post(url: string, body: string, options: Pick<http.RequestOptions, 'agent' | 'localAddress'>): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const request = http.request(`${url}/mutate`, { method: 'POST', headers, ...options }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
      answer.on('error', () => resolve(0))
    })
    request.on('error', () => resolve(0))
    request.end(body)
  })
}
