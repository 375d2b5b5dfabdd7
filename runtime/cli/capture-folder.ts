/**
 * Makes one commit of what was changed on a gateway, on top of the commit that it was last synced to, and hands it on: as a new branch, a
 * patch or a bundle.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { captureChanges, type Captured, type LeftOut } from '../capture/capture.ts'
import { type Edit, makeCommit, writeBundle, writePatch } from '../source/content/make-commit.ts'
import { presentContent } from '../capture/local-changes.ts'
import { createGate } from '../collections/gate/gate.ts'
import { gateRoots } from '../collections/gate/coverage.ts'
import { systemClock } from '../clock.ts'
import { Fault } from '../fault.ts'
import { createExcluder, requireGlob } from '../gatewaysync/glob.ts'
import { type CommitHash, parseRefName, printable } from '../gatewaysync/values.ts'
import { isObject, jsonOrUndefined } from '../json.ts'
import type { Mirror } from '../source/mirrors.ts'
import { diskFault } from '../sync/disk/disk.ts'
import { mayHoldModification } from '../sync/plan/drift.ts'
import type { Wanted } from '../sync/model/wanted.ts'
import { lookAtFolder, shortHash } from './drift-folder.ts'
import { type FolderOptions, withFolder } from './opened-folder.ts'

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
const maxManifestBytes = 1024 * 1024
/** An address that leads nowhere, as RFC 2606 keeps `.invalid` for: a Designer knows a user's name, and no address. */
const noAddress = 'localhost.invalid'
const maxNameLength = 100

type Finding = { severity: string; rule: string; path: string; message: string }

/** Returns what was done, in lines; `captured` tells whether there was anything. Throws CollectionsInvalid, PushRefused and what reading throws. */
export async function captureFolder(options: CaptureOptions): Promise<{ text: string; captured: boolean }> {
  const author = options.author === undefined ? undefined : parseAuthor(options.author)
  const include = createExcluder(options.include.map((glob) => requireGlob(glob, '--include')))
  const signal = AbortSignal.timeout(timeoutMs)
  return await withFolder(
    options,
    async (opened) => {
      const { wanted, found } = await lookAtFolder(opened, options, signal)
      const { captured, leftOut } = captureChanges(found, wanted, include)
      const told = [...captured.map(capturedLine), ...leftOut.map(leftOutLine)]
      if (captured.length === 0) return { text: `${[...told, 'nothing to capture'].join('\n')}\n`, captured: false }
      const { mirror } = opened
      const branch = options.branch ?? `captured/${wanted.facts.gatewayName}-${digestOf(captured)}`
      if (options.dryRun === true) {
        const text = [...told, `${captured.length} files would be one commit on ${shortHash(wanted.commit)}, branch ${branch}`, '']
        return { text: text.join('\n'), captured: true }
      }
      const commit = await mirror.readBy(
        wanted.commit,
        (repository) => {
          const text = options.message ?? messageOf(captured, wanted)
          const at = Math.floor(systemClock.now().epochMilliseconds / 1000)
          const name = author ?? whoSaved(captured, wanted)
          return makeCommit(repository, wanted.commit, captured, { author: name, text: withTrailers(text, wanted), at }, signal)
        },
        signal,
      )
      await refuseNewErrors(mirror, wanted, commit, signal)
      const handed = await handOn(mirror, { ...options, branch }, { commit, parent: wanted.commit }, signal)
      return {
        text: [...told, `commit ${shortHash(commit)} of ${captured.length} files on ${shortHash(wanted.commit)}`, ...handed, ''].join('\n'),
        captured: true,
      }
    },
    signal,
  )
}

function capturedLine({ op, path: file, source }: Captured): string {
  return source === file ? `${op} ${file}` : `${op} ${file} -> ${source}`
}

function leftOutLine({ path: file, why }: LeftOut): string {
  return `left out: ${file} ${why}`
}

/** The same changes have the same branch, so that a second capture finds the first. */
function digestOf(edits: readonly Edit[]): string {
  const hash = createHash('sha256')
  for (const { source, content, exec } of edits) {
    hash.update(`${source}\0${content === undefined ? 'gone' : `${exec ? 'x' : '-'}${content.length}`}\0`)
    if (content !== undefined) hash.update(content)
  }
  return hash.digest('hex').slice(0, 8)
}

function parseAuthor(text: string): { name: string; email: string } {
  const [, name = '', email = ''] = /^([^<>\n]{1,100}?) *<([^<>\s]{1,200})>$/.exec(text) ?? []
  if (name !== '') return { name, email }
  throw new Fault('InvalidConfiguration', '--author must be of the form "Name <address>"')
}

/** Whoever last saved one of the resources in a Designer, as their manifests say. */
function whoSaved(captured: readonly Captured[], wanted: Wanted): { name: string; email: string } {
  let last = { actor: '', at: '' }
  for (const { path: file, op } of captured) {
    if (op === 'removed' || !mayHoldModification(file)) continue
    const value = jsonOrUndefined(presentContent(wanted, file, maxManifestBytes)?.toString('utf8') ?? '')
    const attributes = isObject(value) && isObject(value['attributes']) ? value['attributes'] : {}
    const saved = isObject(attributes['lastModification']) ? attributes['lastModification'] : {}
    const { actor, timestamp } = saved
    if (typeof actor !== 'string' || typeof timestamp !== 'string' || timestamp <= last.at) continue
    last = { actor: printable(actor).replaceAll(/[<>]/g, '').trim().slice(0, maxNameLength), at: timestamp }
  }
  const name = last.actor === '' ? wanted.facts.gatewayName : last.actor
  const local = name.toLowerCase().replaceAll(/[^a-z0-9.-]+/g, '-')
  return { name, email: `${local === '' ? 'gateway' : local}@${noAddress}` }
}

function messageOf(captured: readonly Captured[], { facts }: Wanted): string {
  const files = captured.length === 1 ? '1 file' : `${captured.length} files`
  return `Keep what was changed on ${facts.gatewayName} (${files})`
}

function withTrailers(text: string, { facts, commit }: Wanted): string {
  const mode = facts.mode?.name ?? ''
  const trailers = [`Captured-Gateway: ${facts.gatewayName}`, ...(mode === '' ? [] : [`Captured-Mode: ${mode}`]), `Captured-On: ${commit}`]
  return `${text.trimEnd()}\n\n${trailers.join('\n')}\n`
}

/** What the gate would refuse is not handed on; what it refuses of the parent too was there before. */
async function refuseNewErrors(mirror: Mirror, wanted: Wanted, commit: CommitHash, signal: AbortSignal): Promise<void> {
  const gate = createGate()
  const errorsOf = async (of: CommitHash): Promise<Finding[]> => {
    const request = { profiles: [wanted.profile], validation: wanted.validation, modesInUse: undefined, commit: of, line: '' }
    const verdict = await gate.check(mirror.listing(of, gateRoots([wanted.profile])), request, signal)
    return verdict.kind === 'checked' ? verdict.items.filter(({ severity }) => severity === 'error') : []
  }
  const known = new Set((await errorsOf(wanted.commit)).map(keyOf))
  const [first, ...more] = (await errorsOf(commit)).filter((finding) => !known.has(keyOf(finding)))
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  throw new Fault('CollectionsInvalid', `the commit is not handed on: ${first.path}: ${first.message} (${first.rule})${others}`)
}

function keyOf({ rule, path: file, message }: Finding): string {
  return `${rule} ${file} ${message}`
}

async function handOn(
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
    await mirror.push(commit, parseRefName(branch), signal)
    lines.push(`pushed as the new branch ${branch}`)
  }
  return lines
}
