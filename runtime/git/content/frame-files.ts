/**
 * Streams all files of a commit with their contents: one git process lists them into a second one that reads the contents. This process only passes
 * the output on.
 */
import * as fs from 'node:fs'
import { fileHeaderFormat, fileLineFormat } from '../../content/protocol/file-frames.ts'
import { Fault } from '../../platform/fault.ts'
import type { CommitHash, RelativePath } from '../../api/values.ts'
import { openPipeline } from '../command/batched-pipe.ts'
import { waitForEnd, type GitLimits, type GitProcess, type GitRun, startGit, type StartGit } from '../command/git.ts'

const timeoutMs = 600_000

/** The two programs; the second reads the output of the first. */
type Programs = { list: GitRun; read: GitRun }

/**
 * The frames of all files below the roots, in the order of git's listing; the same bytes on every call. git's message for a missing object
 * is passed on to the reader. Throws ToolMissing if git is too old to list in this form, or the machine has no named pipes, and the faults
 * of git.
 */
export async function* frameFiles(
  { folder, limits, start = startGit }: { folder: string; limits: GitLimits; start?: StartGit },
  commit: CommitHash,
  roots: readonly RelativePath[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const paths = roots.includes('' as RelativePath) ? [] : ['--', ...roots]
  // Names in UTF-8 are not quoted, which would cost git and the reader time for each.
  const settings = ['core.quotePath=false']
  // Paths in git's listing are used literally: a root that begins like a pathspec pattern is still a name.
  const environment = { GIT_LITERAL_PATHSPECS: '1' }
  const args = ['ls-tree', '-r', '--full-tree', `--format=${fileLineFormat}`, commit, ...paths]
  const list = { folder, settings, environment, args, timeoutMs }
  const read = { folder, args: ['cat-file', `--batch=${fileHeaderFormat}`, '--buffer'], timeoutMs }
  const own = new AbortController()
  const running = await startBoth({ list, read }, (program) => start(program, limits), AbortSignal.any([signal, own.signal]))
  try {
    yield* running.output.chunks()
    await running.ended
  } finally {
    own.abort(new Error('the client has disconnected'))
  }
}

/** `ended` settles when both have ended, and throws the fault of the one that failed first. */
async function startBoth({ list, read }: Programs, start: (program: GitRun) => GitProcess, signal: AbortSignal) {
  const pipes = await openPipeline(list.folder)
  if (pipes === undefined) throw new Fault('ToolMissing', `mkfifo cannot create pipes in ${list.folder}`)
  const { between, output } = pipes
  let isRunning = false
  try {
    const failed = new AbortController()
    const either = AbortSignal.any([signal, failed.signal])
    const run = (program: GitRun): Promise<void> => {
      const end = waitForEnd(start(program), program, either)
      // A failure also ends the other program, which would wait endlessly.
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
