/**
 * Judges the resources that templates and patches change, as they would stand on this gateway: what the gate saw is what git holds. Loaded
 * only where there is such a resource, because what an agent imports is its memory.
 */
import * as fs from 'node:fs'
import { checkCollections } from '../../collections/check/check.ts'
import { resourceChecks } from '../../collections/rules/checks.ts'
import type { CheckFinding as CollectionFinding } from '../../collections/rules/findings.ts'
import type { Entry, Listing } from '../../collections/model/listing.ts'
import type { Level, RuleId } from '../../collections/rules/rules.ts'
import { modeManifest } from '../../collections/model/tree.ts'
import type { GatewaySyncSpec } from '../../gatewaysync/schema/spec.ts'
import { openFolders } from '../disk/folders.ts'
import { listFiles, type StagedView, holdsFile } from './staged-view.ts'
import { collectionsFolder, parentOf } from '../model/paths.ts'

/** At most 50 findings, errors first; `folders` are those of the resources that were judged. */
export type JudgedRendered = { findings: CollectionFinding[]; errors: number; folders: ReadonlySet<string> }

export type RenderedContent = {
  /** Files below the folder of the collections that change, with what was made from blobs among or beside them. */
  rendered: readonly string[]
  view: StagedView
  /** The collections that this gateway reads, the winning one last. */
  chain: readonly string[]
  /** The deployment mode, where it is known. */
  mode: string | undefined
  rules: GatewaySyncSpec['validation']['rules']
}

/** So many resources are held at a time, each with those that it overrides. */
const resourcesAtATime = 200
/** More findings than a report could ever hold. */
const maxFindings = 50

/** What follows from contents. What follows from names was judged before the commit was published. */
const contentRules: ReadonlySet<RuleId> = new Set([
  ...resourceChecks.map(([rule]) => rule),
  'invalid-config-mode',
  'unknown-collection-key',
  'unknown-parent',
  'unexpected-parent',
  'parent-cycle',
  'parent-disabled',
  'parent-not-inheritable',
  'collection-disabled',
])

/** Throws what reading the staged files throws; no content makes it throw. */
export async function checkRendered(content: RenderedContent, signal: AbortSignal): Promise<JudgedRendered> {
  const { rendered, view, chain } = content
  const manifests = chain.map((name) => `${collectionsFolder}/${name}/${modeManifest}`).filter((file) => holdsFile(view, file))
  const changedManifests = new Set(rendered.filter((file) => manifests.includes(file)))
  const folders = new Set(rendered.flatMap((file) => resourceFolder(view, file) ?? []))
  const keys = [...new Set([...folders].map(keyOf))].toSorted()
  const isConcerned = ({ rule, path }: CollectionFinding): boolean =>
    contentRules.has(rule) && (changedManifests.has(path) || folders.has(path) || folders.has(resourceFolder(view, path) ?? ''))
  const found = new Map<string, CollectionFinding>()
  for (let start = 0; start === 0 || start < keys.length; start += resourcesAtATime) {
    const paths = new Set(manifests)
    for (const key of keys.slice(start, start + resourcesAtATime)) {
      for (const name of chain) for (const file of listFiles(view, `${collectionsFolder}/${name}/${key}`)) paths.add(file)
    }
    const entries = [...paths].map((path): Entry => ({ path }))
    const { findings } = await checkCollections(listingOf(view, entries), optionsOf(content), signal)
    for (const finding of findings.filter(isConcerned)) {
      if (found.size < maxFindings || isError(finding)) found.set(`${finding.rule} ${finding.path} ${finding.message}`, finding)
    }
  }
  const errors = [...found.values()].filter(isError)
  const others = [...found.values()].filter((finding) => !isError(finding))
  return { findings: [...errors, ...others].slice(0, maxFindings), errors: errors.length, folders }
}

function optionsOf({ mode, rules }: RenderedContent) {
  return {
    root: collectionsFolder,
    severity: (rule: RuleId, _path: string, usual: Level) => (Object.hasOwn(rules, rule) ? (rules[rule] ?? usual) : usual),
    modesInUse: mode === undefined || mode === '' ? undefined : [mode],
    coreDelivered: true,
    decidingOnly: true,
    maxFindings: 500,
  }
}

function isError({ severity }: CollectionFinding): boolean {
  return severity === 'error'
}

/** The folder of the resource that a file belongs to; undefined for a file of none. */
function resourceFolder(view: StagedView, file: string): string | undefined {
  let found: string | undefined
  // The topmost manifest wins, for below it nothing is a resource; module and type stand above every resource.
  for (let folder = parentOf(file); folder.split('/').length >= 5; folder = parentOf(folder)) {
    if (holdsFile(view, `${folder}/resource.json`)) found = folder
    else if (found === undefined && folder === parentOf(file) && holdsFile(view, `${folder}/unary-resource.json`)) found = folder
  }
  return found
}

/** What stands behind the collection: the same for a resource and those that it overrides. */
function keyOf(folder: string): string {
  return folder
    .slice(collectionsFolder.length + 1)
    .split('/')
    .slice(1)
    .join('/')
}

function listingOf(view: StagedView, entries: readonly Entry[]): Listing {
  return {
    async *list() {
      yield entries
    },
    async read(wanted, sink, signal) {
      const chunk = Buffer.allocUnsafe(64 * 1024)
      using folders = openFolders(view.dataDir)
      for (const entry of wanted) {
        signal.throwIfAborted()
        const file = fs.openSync(folders.at(view.place(entry.path)), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW)
        try {
          sink.begin(entry, fs.fstatSync(file).size)
          for (let size = fs.readSync(file, chunk); size > 0; size = fs.readSync(file, chunk)) sink.data(chunk.subarray(0, size))
          sink.end()
        } finally {
          fs.closeSync(file)
        }
      }
    },
  }
}
