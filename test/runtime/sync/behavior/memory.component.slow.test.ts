/**
 * Tests that rendering any number of large files stays within the default memory limit of the agent.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { matchObject } from '../../../support/assertions.ts'
import { imageEnvironment, imageFlags } from '../../../support/image-flags.ts'
import { memoryCgroup } from '../../../support/memory-cgroup.ts'

const program = path.resolve(import.meta.dirname, '../../../support/programs/render-many.ts')
/** The default memory limit of the agent container. */
const limitMiB = 256

void t.test('sixteen files of eight megabytes are rendered within the memory of one agent', { timeout: 600_000 }, async (t) => {
  const cgroup = memoryCgroup(limitMiB)
  if (cgroup === undefined) return t.plan(0, 'this user may set no limit on memory; run as root with cgroups')
  // On disk, because files on a tmpfs would count toward the memory limit.
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-memory-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const args = [...cgroup.enter.args, process.execPath, ...imageFlags('agent'), program, dataDir, '16', '8000000']
  try {
    const { stdout } = await promisify(execFile)(cgroup.enter.program, args, {
      env: { PATH: process.env['PATH'] ?? '', ...imageEnvironment('agent') },
    })
    matchObject(t, JSON.parse(stdout), { phase: 'Synced' })
  } finally {
    await cgroup.remove()
  }
})
