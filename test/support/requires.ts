/**
 * What a test needs from the machine. Where it is not to be had the test is skipped loudly; under CI=true that is a failure, but for
 * data that the project does not have of its own.
 */
import { accessSync, constants, existsSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'

/** How to get what is missing, for the message. */
const install = 'install it with: bash scripts/system-packages.sh'

/** The folder of data that may stand beside the project; its files are read in place. */
export const sharedFolder = path.resolve(import.meta.dirname, '../../../shared')

/** Whether every command is on PATH; if not, the test has been skipped (or failed under CI) and should return. */
export function requires(t: Pick<Test, 'plan' | 'fail' | 'comment' | 'end'>, ...commands: string[]): boolean {
  const missing = commands.filter((command) => !isOnPath(command))
  return missing.length === 0 || absent(t, `${missing.join(', ')} is not on PATH; ${install}`)
}

/**
 * The path of a file of the shared data, or undefined where it is not there; the test then is skipped and should return. Each behaviour
 * has a test on data of the project's own as well.
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

/** Skips the test and says why; fails it under CI. */
export function absent(t: Pick<Test, 'plan' | 'fail' | 'comment' | 'end'>, why: string): false {
  if (process.env['CI'] === 'true') t.fail(why)
  else t.plan(0, why)
  return false
}
