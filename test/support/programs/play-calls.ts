/**
 * `play-calls.ts`: runs several calls of the command line in one process, because a process start takes longer than most calls. Reads the
 * arguments of each call as JSON from stdin; prints, for each, its output and exit code.
 */
import { text } from 'node:stream/consumers'
import type { CliResult } from '../run-cli.ts'

const print = process.stdout.write.bind(process.stdout)
const written = { stdout: '', stderr: '' }
for (const name of ['stdout', 'stderr'] as const)
  process[name].write = (chunk: Uint8Array | string): boolean => {
    written[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
    return true
  }

function codeNow(): number {
  return Number(process.exitCode ?? 0)
}

const played: CliResult[] = []
for (const [index, args] of (JSON.parse(await text(process.stdin)) as string[][]).entries()) {
  Object.assign(written, { stdout: '', stderr: '' })
  process.argv = [...process.argv.slice(0, 2), ...args]
  process.exitCode = undefined
  // The query makes it a new module, which runs again; its imports stay loaded.
  await import(`../../../runtime/cli.ts?call=${index}`)
  played.push({ code: codeNow(), ...written })
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal)
}
process.exitCode = 0
print(JSON.stringify(played))
