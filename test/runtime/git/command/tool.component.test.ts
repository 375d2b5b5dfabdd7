/**
 * A tool that processes untrusted data runs within its limits, and a missing tool is named.
 */
import path from 'node:path'
import t from 'tap'
import { asFault } from '../../../../runtime/platform/fault.ts'
import { runTool, type ToolRun } from '../../../../runtime/git/command/tool.ts'
import { matchObject } from '../../../support/assertions.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const nothing = { files: {}, input: Buffer.alloc(0) }

void t.test('a tool may write no core dump and no file, and has 64 MiB of memory', async (t) => {
  if (!requires(t, 'sh')) return
  const folder = temporaryFolder(t, 'tool')
  const run = (run: ToolRun) => runTool(run, { folder, timeoutMs: 30_000, signal: AbortSignal.timeout(60_000) })
  const limits = await run({ command: 'sh', args: ['-c', 'ulimit -c; ulimit -d; ulimit -f; ulimit -H -d'], ...nothing })
  matchObject(t, limits, { code: 0, stdout: '0\n65536\n0\n65536\n' })
  const writing = run({ command: 'sh', args: ['-c', 'echo more > "$0"', path.join(folder, 'file')], ...nothing })
  const fault = asFault(await writing.catch((error: unknown) => error))
  t.strictSame([fault.reason, fault.message], ['GitKilled', 'sh was ended by SIGXFSZ'])
})

void t.test('a tool that is missing or not executable is named', async (t) => {
  if (!requires(t, 'sh')) return
  const folder = temporaryFolder(t, 'tool')
  for (const command of ['no-such-tool', folder]) {
    const run = runTool({ command, args: [], ...nothing }, { folder, timeoutMs: 30_000, signal: AbortSignal.timeout(60_000) })
    const fault = asFault(await run.catch((error: unknown) => error))
    t.strictSame([fault.reason, fault.message], ['ToolMissing', `${command} is not installed or cannot be run`])
  }
})
