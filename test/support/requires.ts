/**
 * Requirements of a test on the machine. If one is missing, the test is skipped with a message; under CI=true it fails, except for data
 * that is not part of the project.
 */
import { accessSync, constants, existsSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'

/** The hint that the message gives. */
const install = 'install it with: bash scripts/system-packages.sh'

/** The folder of data that may exist beside the project; its files are read in place. */
export const sharedFolder = path.resolve(import.meta.dirname, '../../../shared')

/** Whether every command is on PATH; if not, the test has been skipped (or failed under CI) and should return. */
export function requires(t: Pick<Test, 'plan' | 'fail' | 'comment' | 'end'>, ...commands: string[]): boolean {
  const missing = commands.filter((command) => !isOnPath(command))
  return missing.length === 0 || absent(t, `${missing.join(', ')} is not on PATH; ${install}`)
}

/**
 * The path of a file of the shared data; undefined if it is missing, and the test is then skipped and should return. Each behavior also has
 * a test with the project's own data.
 */
export function sharedData(t: Pick<Test, 'plan'>, file: string): string | undefined {
  const full = path.join(sharedFolder, file)
  if (existsSync(full)) return full
  t.plan(0, `the data file shared/${file} is not beside the project`)
  return undefined
}

function isOnPath(command: string): boolean {
  return (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Skips the test with the reason; fails it under CI. */
export function absent(t: Pick<Test, 'plan' | 'fail' | 'comment' | 'end'>, why: string): false {
  if (process.env['CI'] === 'true') t.fail(why)
  else t.plan(0, why)
  return false
}
