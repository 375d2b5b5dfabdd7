/** `hold-lock.ts <dataDir>`: tries to take the lock of a data directory, prints `held` or the reason, and waits until its stdin ends. */
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { ensureEngineFolder, ownershipOf } from '../../../runtime/sync/disk/disk.ts'
import { takeLock } from '../../../runtime/sync/disk/lock.ts'

const [dataDir = ''] = process.argv.slice(2)
try {
  ensureEngineFolder(dataDir, ownershipOf(dataDir))
  await takeLock(dataDir, systemClock, AbortSignal.timeout(120_000))
  process.stdout.write('held\n')
} catch (error) {
  process.stdout.write(`${error instanceof Fault ? error.reason : String(error)}\n`)
}
process.stdin.resume()
