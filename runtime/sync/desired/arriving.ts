/**
 * Reads a commit whose contents arrive with its listing.
 */
import type { FileSink, Source } from '../../delivery/protocol.ts'
import { Fault, type Reason } from '../../fault.ts'
import type { Wanted } from '../model/wanted.ts'
import { desiredTree, type DesiredFile, type DesiredTreeBuilder } from './desired-tree.ts'
import type { ResolvedMapping } from './mappings.ts'

/** Takes contents that arrive with a listing. Its methods throw nothing but `contentsInVain`. */
export type ArrivingContents = {
  /** Whether any content is to be taken; before the first file. */
  takes(mappings: readonly ResolvedMapping[]): boolean
  /** A file whose content follows; undefined: nobody wants it. */
  begin(file: DesiredFile | undefined): void
  data(chunk: Uint8Array): void
  end(): void
  /** Nothing more comes, whether all has come or not. */
  over(): void
}

/** Thrown where the rest of the contents is not to be waited for: a listing says what there is, and what is wanted of it can be asked for. */
export const contentsInVain = new Error('these contents are not to be waited for')

/**
 * What an older controller answers, one with an older git or without named pipes, a commit with a submodule or beyond what is delivered, and
 * what is cut off or damaged: the listing says more, or needs nothing of that.
 */
const toldByListing: readonly Reason[] = ['NotFound', 'ToolMissing', 'GitFailed', 'CommitGone', 'DeliveryFailed', 'RepositoryTooLarge']

/**
 * What is wanted of a commit, with whose files `contents` is fed; undefined where the listing has to be read by itself. Throws what the tree and
 * the source throw.
 */
export async function readWithContents(
  source: Source,
  contents: ArrivingContents,
  { commit, profile }: Wanted,
  mappings: readonly ResolvedMapping[],
  signal: AbortSignal,
): Promise<DesiredTreeBuilder | undefined> {
  if (!contents.takes(mappings)) return undefined
  const building = desiredTree(mappings)
  const sink: FileSink = {
    begin: (file) => contents.begin(building.add(file)),
    data: (chunk) => contents.data(chunk),
    end: () => contents.end(),
  }
  try {
    await source.files({ commit, profile: profile.name }, sink, signal)
    return building
  } catch (error) {
    signal.throwIfAborted()
    if (error === contentsInVain || (error instanceof Fault && toldByListing.includes(error.reason))) return undefined
    throw error
  } finally {
    contents.over()
  }
}
