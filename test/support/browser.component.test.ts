/**
 * A killed test leaves no browser processes behind: neither Chromium's own nor its crash handlers, which have their own sessions and are
 * found by the folder of their reports.
 */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from './repository.ts'
import { requires } from './requires.ts'
import { until } from './world.ts'

const program = path.resolve(import.meta.dirname, 'programs/open-browser.ts')

/** The processes with this text in their arguments. */
function naming(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(text))
    .map(Number)
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    // The process has just exited.
    return ''
  }
}

void t.test('no browser process survives the test process when it is killed', async (t) => {
  if (!requires(t, 'chromium')) return
  const folder = temporaryFolder(t, 'browser')
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
  await until(() => (output.includes('open\n') ? true : undefined), 'it is open')
  t.ok(naming(`${folder}/`).length > 0, 'what looks after crashes is known by the folder')
  child.kill('SIGKILL')
  await until(() => (naming(`${folder}/`).length === 0 ? true : undefined), 'all of them end')
})
