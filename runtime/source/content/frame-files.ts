/**
 * All files of a commit with their contents in one stream: one git lists them, and what it lists is read by the git that reads contents. This
 * process sees nothing but its output, and passes that on.
 */
import * as fs from 'node:fs'
import { fileHeaderFormat, fileLineFormat } from '../../delivery/file-frames.ts'
import { Fault } from '../../fault.ts'
import type { CommitHash, RelativePath } from '../../gatewaysync/values.ts'
import { openPipeline } from '../git/batched-pipe.ts'
import { ending, type GitLimits, type GitRun, startGit } from '../git/git.ts'

const timeoutMs = 600_000

/** The two programs, of which the second reads what the first writes. */
type Programs = { list: GitRun; read: GitRun }

/**
 * The frames of all files below the roots, in the order of git's listing; the same bytes at every call. What git says of an object that it
 * does not have is passed on for the reader to see. Throws ToolMissing where a git is too old to list in this form, or the machine has no named
 * pipes, and the faults of git.
 */
export async function* frameFiles(
  { folder, limits }: { folder: string; limits: GitLimits },
  commit: CommitHash,
  roots: readonly RelativePath[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const paths = roots.includes('' as RelativePath) ? [] : ['--', ...roots]
  // Names in UTF-8 are not quoted, which would cost git and the reader time for each.
  const settings = ['core.quotePath=false']
  // Nothing that git lists is looked at again: a root that begins like one of its patterns is a name all the same.
  const environment = { GIT_LITERAL_PATHSPECS: '1' }
  const args = ['ls-tree', '-r', '--full-tree', `--format=${fileLineFormat}`, commit, ...paths]
  const list = { folder, settings, environment, args, timeoutMs }
  const read = { folder, args: ['cat-file', `--batch=${fileHeaderFormat}`, '--buffer'], timeoutMs }
  const own = new AbortController()
  const running = await start({ list, read }, limits, AbortSignal.any([signal, own.signal]))
  try {
    yield* running.output.chunks()
    await running.ended
  } finally {
    own.abort(new Error('the reader has left'))
  }
}

/** `ended` settles when both have ended, and throws the fault of the one that failed first. */
async function start({ list, read }: Programs, limits: GitLimits, signal: AbortSignal) {
  const pipes = await openPipeline(list.folder)
  if (pipes === undefined) throw new Fault('ToolMissing', `mkfifo makes no pipes in ${list.folder}`)
  const { between, output } = pipes
  let isRunning = false
  try {
    const failed = new AbortController()
    const either = AbortSignal.any([signal, failed.signal])
    const run = (program: GitRun): Promise<void> => {
      const end = ending(startGit(program, limits), program, either)
      // A failure ends the other program too, which would wait for ever.
      end.catch((error: unknown) => failed.abort(error))
      return end
    }
    const ended = Promise.all([run({ ...list, output: between.input }), run({ ...read, source: between.output, output: output.input })])
    // A reader that leaves early does not wait for it.
    ended.catch(() => undefined)
    isRunning = true
    return { output, ended }
  } finally {
    for (const descriptor of [between.input, between.output, output.input]) fs.closeSync(descriptor)
    if (!isRunning) output.close()
  }
}
