/**
 * Validates the resources that templates and patches change, as they will be on this gateway; the controller's validation has seen only
 * what git holds. Loaded only if there is such a resource, because every import costs the agent memory.
 */
import * as fs from 'node:fs'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { checkCollections } from '../../validation/run/check-root.ts'
import { resourceChecks } from '../../validation/rules/checks.ts'
import type { CheckFinding as CollectionFinding } from '../../validation/rules/findings.ts'
import type { FileEntry, Listing } from '../../validation/model/listing.ts'
import type { Level, RuleId } from '../../validation/rules/rules.ts'
import { modeManifest } from '../../validation/model/tree.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import { parentOf } from '../../api/values.ts'
import { maxFileBytes } from '../../content/protocol/protocol.ts'
import { openFolders } from '../disk/folders.ts'
import { listFiles, type StagedView, holdsFile } from './staged-view.ts'
import { collectionsFolder } from '../model/paths.ts'

/** At most 50 findings, errors first; `folders` are those of the validated resources. */
export type CheckedRendered = { findings: CollectionFinding[]; errors: number; folders: ReadonlySet<string> }

/** Input of `checkRendered`. */
export type RenderedContent = {
  /** Paths of changing files in the collections that are rendered, or lie in one folder with rendered ones or below it. */
  rendered: readonly string[]
  view: StagedView
  /** The collections that this gateway reads, the overriding one last. */
  chain: readonly string[]
  /** The deployment mode, if known. */
  mode: string | undefined
  /** Severities of the GatewaySync's `validation.rules`, by rule. */
  rules: GatewaySyncSpec['validation']['rules']
}

/** How many resources are held at a time, each with those that it overrides. */
const resourcesAtATime = 200
/** More findings than any report holds. */
const maxFindings = 50

/** Rules about contents. Rules about names were checked before the commit was published. */
const contentRules: ReadonlySet<RuleId> = new Set([
  ...resourceChecks.map(([rule]) => rule),
  'unlisted-file',
  'invalid-config-mode',
  'unknown-collection-key',
  'unknown-parent',
  'unexpected-parent',
  'parent-cycle',
  'parent-disabled',
  'parent-not-inheritable',
  'collection-disabled',
])

/** Validates the resources that `rendered` files belong to. Throws what reading the staged files throws; no content makes it throw. */
export async function checkRendered(content: RenderedContent, signal: AbortSignal): Promise<CheckedRendered> {
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
    const entries = [...paths].map((path): FileEntry => ({ path }))
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

/** The folder of the resource that a file belongs to; undefined: none. */
function resourceFolder(view: StagedView, file: string): string | undefined {
  let found: string | undefined
  // The topmost manifest counts, for nothing below it is a resource. Module and type are folders above every resource.
  for (let folder = parentOf(file); folder.split('/').length >= 5; folder = parentOf(folder)) {
    if (holdsFile(view, `${folder}/resource.json`)) found = folder
    else if (found === undefined && folder === parentOf(file) && holdsFile(view, `${folder}/unary-resource.json`)) found = folder
  }
  return found
}

/** The path below the collection: the same for a resource and those that it overrides. */
function keyOf(folder: string): string {
  return folder
    .slice(collectionsFolder.length + 1)
    .split('/')
    .slice(1)
    .join('/')
}

/**
 * The folder of a resource may hold anything, which another process may swap at any time: a file that is not ordinary, or larger than any
 * delivered one, is not read.
 */
function listingOf(view: StagedView, entries: readonly FileEntry[]): Listing {
  return {
    async *list() {
      yield entries
    },
    async read(ids, sink, signal) {
      const chunk = Buffer.allocUnsafe(64 * 1024)
      const folders = openFolders(view.dataDir)
      try {
        for (const entry of ids) {
          signal.throwIfAborted()
          const flags = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK
          const file = fs.openSync(folders.at(view.place(entry.path)), flags)
          try {
            const stat = fs.fstatSync(file)
            sink.begin(entry, stat.size)
            for (let left = stat.isFile() && stat.size <= maxFileBytes ? stat.size : 0; left > 0;) {
              const size = fs.readSync(file, chunk, 0, Math.min(left, chunk.length), null)
              if (size === 0) break
              sink.data(chunk.subarray(0, size))
              left -= size
              // A large file would block probes and signals.
              if (size === chunk.length) await yieldToEventLoop()
              signal.throwIfAborted()
            }
            sink.end()
          } finally {
            fs.closeSync(file)
          }
        }
      } finally {
        folders.close()
      }
    },
  }
}
