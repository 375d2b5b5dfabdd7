/**
 * The program of the validation thread: validates one commit after the other, with its own heap. The content of a repository may end this
 * thread, but not the controller.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../platform/clock.ts'
import { validatedRoots } from '../run/coverage.ts'
import { createValidator } from '../run/validate-commit.ts'
import { buffersOf } from '../run/snapshot.ts'
import type { VersionedListing } from '../model/listing.ts'
import { Fault } from '../../platform/fault.ts'
import { parseRelativePath } from '../../api/values.ts'
import { validationListing, openListingReader } from '../../git/content/validation-listing.ts'
import type { StartGit } from '../../git/command/git.ts'
import { relayedGit } from '../../git/command/relayed-git.ts'
import { type FromWorker, type WorkerStart, currentPathBytes, type ToWorker } from './messages.ts'

const { currentPath: shared, memory } = workerData as WorkerStart
const currentPath = Buffer.from(shared)
const validator = createValidator(memory)
const reader = openListingReader(systemClock)
const start: StartGit = (run, limits) => relayedGit(run, limits, (request, moved) => say({ kind: 'git', request }, moved))
let cancel = new AbortController()

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'cancel') cancel.abort()
  else if (message.kind === 'rest') rest()
  else void answer(message)
})

say({ kind: 'ready' })

async function answer({ repository, request }: Extract<ToWorker, { kind: 'validate' }>): Promise<void> {
  cancel = new AbortController()
  const roots = validatedRoots(request.profiles).map(parseRelativePath)
  const listing = withReports(validationListing({ ...repository, start }, request.commit, roots, reader))
  const message: FromWorker = await validator.validate(listing, request, cancel.signal).then(
    (verdict) => ({ kind: 'verdict', verdict }),
    (error: unknown) => {
      if (error instanceof Fault) return { kind: 'fault', reason: error.reason, message: error.message }
      const { message, stack = '' } = error instanceof Error ? error : new Error(String(error))
      // A system error, such as a failed process start, does not depend on the commit.
      if (error instanceof Error && 'syscall' in error) return { kind: 'fault', reason: 'Unexpected', message }
      return { kind: 'bug', message, stack }
    },
  )
  reportFile('')
  say(message)
}

function rest(): void {
  const handed = validator.handOver()
  say({ kind: 'rested', memory: handed }, buffersOf(handed))
}

/** The same listing, which records in the shared buffer which file is being read. */
function withReports(listing: VersionedListing): VersionedListing {
  return {
    ...listing,
    read: (entries, sink, signal) =>
      listing.read(
        entries,
        {
          begin(entry, size) {
            reportFile(entry.path)
            sink.begin(entry, size)
          },
          data: (chunk) => sink.data(chunk),
          end: () => sink.end(),
        },
        signal,
      ),
  }
}

function say(message: FromWorker, moved: (ArrayBuffer | MessagePort)[] = []): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  parentPort?.postMessage(message, moved)
}

function reportFile(path: string): void {
  currentPath.writeUInt16LE(currentPath.write(path, 2, currentPathBytes - 2), 0)
}
