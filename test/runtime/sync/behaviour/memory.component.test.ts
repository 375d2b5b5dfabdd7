/**
 * Templates of any number of large files stay within the agent's default limit on memory.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { imageEnvironment, imageFlags } from '../../../support/image-flags.ts'
import { memoryCgroup } from '../../../support/memory-cgroup.ts'

const program = path.resolve(import.meta.dirname, '../../../support/programs/render-many.ts')
/** The default limit of an agent's container. */
const limitMiB = 256

void t.test('sixteen files of eight megabytes are rendered in the memory of one agent', { timeout: 120_000 }, async (t) => {
  const cgroup = memoryCgroup(limitMiB)
  if (cgroup === undefined) return t.plan(0, 'this user may set no limit on memory; run as root with cgroups')
  // On a disk: what lies on a file system in memory would count for ever.
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-memory-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const args = [...cgroup.enter.args, process.execPath, ...imageFlags('agent'), program, dataDir, '16', '8000000']
  try {
    const { stdout } = await promisify(execFile)(cgroup.enter.program, args, {
      env: { PATH: process.env['PATH'] ?? '', ...imageEnvironment('agent') },
    })
    t.match(JSON.parse(stdout), { phase: 'Synced' })
  } finally {
    await cgroup.remove()
  }
})
