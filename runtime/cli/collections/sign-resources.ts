/**
 * Recomputes the signature in each manifest whose resource was edited manually. Nothing else in the file changes.
 */
import { existsSync, lstatSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readTree } from '../../validation/run/check-root.ts'
import { readResources, type ResourceContent } from '../../validation/run/read-resources.ts'
import { directoryListing } from './directory-listing.ts'
import { rules } from '../../validation/rules/rules.ts'
import { isSigned, signatureAttribute, signatureOf } from '../../validation/rules/signature.ts'
import { modeManifest, projectManifest } from '../../validation/model/tree.ts'
import { Fault } from '../../platform/fault.ts'
import { isWithin, parseRelativePath, type RelativePath } from '../../api/values.ts'
import { locate, parseRoot } from './collections-input.ts'
import { findRoots } from '../../validation/model/projects.ts'

export type SignOptions = { root?: string; dryRun?: true }

/** The result for each manifest. `unsigned` could not be signed. */
export type Signing = {
  /** Manifests whose signature was stale, relative to the top of the repository. */
  signed: string[]
  unsigned: { file: string; why: string }[]
  /** Number of valid signatures. */
  right: number
}

/** Throws InvalidConfiguration when the path has no resource. */
export async function sign(where: string, { root, dryRun }: SignOptions, signal: AbortSignal): Promise<Signing> {
  const { top, below } = placeOf(where)
  const result: Signing = { signed: [], unsigned: [], right: 0 }
  let resources = 0
  for (const each of root === undefined ? await rootsAround(top, below, signal) : [parseRoot(root)]) {
    const facts = await readTree(directoryListing(top, each), { root: each }, signal)
    const placed = facts.tree.collections.flatMap((collection) =>
      collection.resources
        .filter(({ manifest }) => isWithin(path.posix.dirname(manifest.path), below))
        .map((resource) => ({ collection, resource })),
    )
    resources += placed.length
    const take = (content: ResourceContent): void => {
      const file = content.resource.manifest.path
      const outcome = outcomeOf(content, filesOf(path.join(top, path.dirname(file))))
      if (outcome.kind === 'right') result.right += 1
      if (outcome.kind === 'impossible') result.unsigned.push({ file, why: outcome.why })
      if (outcome.kind !== 'stale') return
      if (dryRun !== true) writeSignature(path.join(top, file), outcome.signature)
      result.signed.push(file)
    }
    await readResources(directoryListing(top), placed, take, signal)
  }
  if (resources > 0) return result
  const isProject = folderWith(projectManifest, path.join(top, below)) !== undefined
  const why = isProject ? 'only resources of collections are signed, not those of projects' : 'specify the collections with --root'
  throw new Fault('InvalidConfiguration', `${where} contains no resource of a collection; ${why}`)
}

function placeOf(where: string): { top: string; below: RelativePath } {
  const full = path.resolve(where)
  const stat = statSync(full, { throwIfNoEntry: false })
  if (stat === undefined) throw new Fault('InvalidConfiguration', `${where} does not exist`)
  const folder = stat.isDirectory() ? full : path.dirname(full)
  if (!stat.isDirectory() && !existsSync(path.join(folder, 'resource.json')))
    throw new Fault('InvalidConfiguration', `${where} is not part of a resource: there is no resource.json next to it`)
  // Outside a repository, the top is the folder above the collection.
  const { top } = locate(folder)
  const start = existsSync(path.join(top, '.git')) ? top : (collectionAbove(folder) ?? top)
  return { top: start, below: parseRelativePath(path.relative(start, folder).split(path.sep).join('/')) }
}

/** The collections root of a folder. */
function collectionAbove(folder: string): string | undefined {
  const collection = folderWith(modeManifest, folder)
  return collection === undefined ? undefined : path.dirname(collection)
}

/** The nearest folder that contains the file: this one, or one above it. */
function folderWith(file: string, folder: string): string | undefined {
  for (let at = folder; path.dirname(at) !== at; at = path.dirname(at)) if (existsSync(path.join(at, file))) return at
  return undefined
}

async function rootsAround(top: string, below: RelativePath, signal: AbortSignal): Promise<string[]> {
  const above = collectionAbove(path.join(top, below))
  if (above !== undefined && isWithin(above, top)) return [path.relative(top, above).split(path.sep).join('/')]
  const paths: string[] = []
  for await (const batch of directoryListing(top, below).list(signal)) for (const { path: file } of batch) paths.push(file)
  return findRoots(paths, [below])
}

/** The files of a resource on disk. */
type ResourceFiles = {
  isLink(name: string): boolean
  /** Whether it is a text file with CRLF. */
  hasCrlf(name: string): boolean
}

function filesOf(folder: string): ResourceFiles {
  return {
    isLink: (name) => lstatSync(path.join(folder, name), { throwIfNoEntry: false })?.isSymbolicLink() === true,
    hasCrlf(name) {
      const content = readFileSync(path.join(folder, name))
      return !content.subarray(0, binaryPrefix).includes(0) && content.includes('\r\n')
    },
  }
}

/** git treats a file as binary if this many bytes at its beginning contain a zero byte. */
const binaryPrefix = 8_000

type Outcome = { kind: 'unsigned' | 'right' } | { kind: 'stale'; signature: string } | { kind: 'impossible'; why: string }

/** A resource without a signature stays unsigned: the gateway accepts it. */
function outcomeOf({ manifest: parsed, hashes, damaged, pointers }: ResourceContent, files: ResourceFiles): Outcome {
  const [broken] = [...damaged].filter(([, { kind }]) => rules[kind].severity === 'error')
  // A signature would make a broken file appear intended.
  if (broken !== undefined) return { kind: 'impossible', why: `cannot be signed: ${broken[0]} ${broken[1].problem}` }
  if (pointers[0] !== undefined) return { kind: 'impossible', why: `cannot be signed: ${pointers[0]} is a Git LFS pointer` }
  if (parsed.kind === 'invalid') return { kind: 'impossible', why: parsed.problem }
  const written = parsed.manifest.attributes?.[signatureAttribute]
  if (typeof written !== 'string') return { kind: 'unsigned' }
  const hashOf = (file: string): string | undefined => hashes.get(file)
  const signature = signatureOf(parsed.text, hashOf)
  if (signature === undefined) {
    const absent = parsed.manifest.files.find((file) => hashOf(file) === undefined)
    const state = absent !== undefined && files.isLink(absent) ? 'is a symbolic link: links are not delivered' : 'does not exist'
    const why = absent === undefined ? 'the scope or version is invalid' : `it lists "${absent}", which ${state}`
    return { kind: 'impossible', why: `cannot be signed: ${why}` }
  }
  if (isSigned(parsed.text, written, hashOf, parsed.value) === true) return { kind: 'right' }
  // Whether git stores such a file with LF depends on attributes, filters and the configuration of each user, which are unknown here. No later
  // command could repair a signature of the wrong bytes.
  const withCrlf = parsed.manifest.files.find((file) => files.hasCrlf(file))
  if (withCrlf === undefined) return { kind: 'stale', signature }
  const advice =
    'save it with LF, which git stores unchanged (with core.autocrlf=input, git checks files out with LF), and sign the resource again'
  return { kind: 'impossible', why: `cannot be signed: ${withCrlf} has Windows line endings (CRLF), which git may store as LF; ${advice}` }
}

function writeSignature(file: string, signature: string): void {
  const text = readFileSync(file, 'utf8')
  const changed = text.replace(new RegExp(`("${signatureAttribute}"\\s*:\\s*)"[^"]*"`, 'g'), `$1"${signature}"`)
  const aside = `${file}.tmp`
  try {
    writeFileSync(aside, changed, { mode: statSync(file).mode & 0o777 })
    renameSync(aside, file)
  } finally {
    rmSync(aside, { force: true })
  }
}
