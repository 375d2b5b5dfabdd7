/**
 * Creates one commit from the local changes of a gateway, on top of the commit that it was last synced to, and submits it as a new branch, a patch or
 * a bundle.
 */
import { counted } from '../../platform/text/counted.ts'
import { copyFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { captureChanges, type Captured, type Skipped } from '../../capture/detect/edits.ts'
import { newFindings } from '../../api/findings.ts'
import { validationListing, openListingReader } from '../../git/content/validation-listing.ts'
import { writeBundle, writePatch } from '../../git/content/make-commit.ts'
import type { Repository } from '../../git/content/mirror-listing.ts'
import { digestOf, subjectOf, savedBy, withTrailers } from '../../capture/submit/commit.ts'
import { createValidator } from '../../validation/run/validate-commit.ts'
import { validatedRoots } from '../../validation/run/coverage.ts'
import { systemClock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Verdict } from '../../reconcile/decide/observation.ts'
import { createExcluder, requireGlob } from '../../api/glob/glob.ts'
import { type CommitHash, parseRefName, shortCommit, visible } from '../../api/values.ts'
import type { Mirror } from '../../git/mirrors.ts'
import { diskFault } from '../../sync/disk/disk.ts'
import type { SyncTarget } from '../../sync/model/desired.ts'
import { compareFolder } from './drift-folder.ts'
import { type FolderOptions, withFolder } from './opened-folder.ts'
import { workSignal } from '../stop.ts'

/**
 * `include` are globs of new files to capture outside the folders of the repository; `output` is the file of a patch or, by its extension, a bundle.
 */
export type CaptureOptions = FolderOptions & {
  include: string[]
  author?: string
  message?: string
  branch?: string
  push?: true
  output?: string
  dryRun?: true
}

const timeoutMs = 600_000

type Finding = { severity: string; rule: string; path: string; message: string }

/** Returns the result as text; `captured` is false if there were no changes. Throws CollectionsInvalid, PushRefused and what reading throws. */
export async function captureFolder(options: CaptureOptions): Promise<{ text: string; captured: boolean }> {
  const author = options.author === undefined ? undefined : parseAuthor(options.author)
  const include = createExcluder(options.include.map((glob) => requireGlob(glob, '--include')))
  const signal = workSignal(timeoutMs)
  return await withFolder(
    options,
    async (opened) => {
      const { target, found } = await compareFolder(opened, options, signal)
      const { captured, skipped } = captureChanges(found, target, include)
      const listed = [...captured.map(capturedLine), ...skipped.map(skippedLine)].map(visible)
      if (captured.length === 0) return { text: `${[...listed, 'nothing to capture'].join('\n')}\n`, captured: false }
      const { mirror } = opened
      const branch = options.branch ?? `captured/${target.facts.gatewayName}-${digestOf(captured).slice(0, 8)}`
      if (options.dryRun === true) {
        const files = counted(captured.length, 'file')
        const text = [...listed, `${files} would become one commit with parent ${shortCommit(target.commit)}, on branch ${branch}`, '']
        return { text: text.join('\n'), captured: true }
      }
      const origin = { gateway: target.facts.gatewayName, mode: target.facts.mode?.name ?? '', commit: target.commit }
      const text = withTrailers(options.message ?? subjectOf(captured.length, target.facts.gatewayName), origin)
      const at = Math.floor(systemClock.now().epochMilliseconds / 1000)
      const message = { author: author ?? savedBy(captured, target.facts.gatewayName), text, at }
      const commit = await mirror.commit(target.commit, captured, message, signal)
      await refuseNewErrors(mirror, target, commit, signal)
      const submitted = await submitCommit(mirror, { ...options, branch }, { commit, parent: target.commit }, signal)
      return {
        text: [
          ...listed,
          `commit ${shortCommit(commit)} with ${counted(captured.length, 'file')}, parent ${shortCommit(target.commit)}`,
          ...submitted,
          '',
        ].join('\n'),
        captured: true,
      }
    },
    signal,
  )
}

function capturedLine({ op, path: file, source }: Captured): string {
  return source === file ? `${op} ${file}` : `${op} ${file} -> ${source}`
}

function skippedLine({ path: file, message }: Skipped): string {
  return `skipped: ${file} ${message}`
}

function parseAuthor(text: string): { name: string; email: string } {
  const [, name = '', email = ''] = /^([^<>\n]{1,100}?) *<([^<>\s]{1,200})>$/.exec(text) ?? []
  if (name !== '') return { name, email }
  throw new Fault('InvalidConfiguration', '--author must be of the form "Name <address>"')
}

/** Refuses to submit a commit that validation would refuse, unless the parent has the same errors. */
async function refuseNewErrors(mirror: Mirror, target: SyncTarget, commit: CommitHash, signal: AbortSignal): Promise<void> {
  const [first, ...more] = await newErrors(mirror, target, commit, signal)
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  throw new Fault('CollectionsInvalid', `the changes are not captured: ${first.path}: ${first.message} (${first.rule})${others}`)
}

async function newErrors(mirror: Mirror, target: SyncTarget, commit: CommitHash, signal: AbortSignal): Promise<Finding[]> {
  const validator = createValidator()
  const reader = openListingReader(systemClock)
  const errorsOf = async (of: CommitHash): Promise<Finding[]> => {
    const request = { profiles: [target.profile], validation: target.validation, modesInUse: undefined, commit: of, line: '' }
    const validate = async (repository: Repository): Promise<Verdict> =>
      await validator.validate(validationListing(repository, of, validatedRoots([target.profile]), reader), request, signal)
    const verdict = await mirror.readBy(of, validate, signal)
    return verdict.kind === 'checked' ? verdict.items.filter(({ severity }) => severity === 'error') : []
  }
  try {
    return newFindings(await errorsOf(target.commit), await errorsOf(commit))
  } finally {
    await reader.objects.end()
  }
}

async function submitCommit(
  mirror: Mirror,
  { branch, push, output }: { branch: string; push?: true; output?: string },
  { commit, parent }: { commit: CommitHash; parent: CommitHash },
  signal: AbortSignal,
): Promise<string[]> {
  const lines: string[] = []
  if (output !== undefined) {
    await mirror.readBy(
      parent,
      async (repository) => {
        const made = path.join(repository.folder, `captured-${commit}`)
        try {
          if (output.endsWith('.bundle')) await writeBundle(repository, { commit, parent, branch }, made, signal)
          else await writePatch(repository, commit, made, signal)
          copyFileSync(made, output)
        } catch (error) {
          throw diskFault(error, output)
        } finally {
          rmSync(made, { force: true })
        }
      },
      signal,
    )
    lines.push(`written to ${output}`)
  }
  if (push === true) {
    await mirror.push({ commit, branch: parseRefName(branch) }, signal)
    lines.push(`pushed as the new branch ${branch}`)
  }
  return lines
}
