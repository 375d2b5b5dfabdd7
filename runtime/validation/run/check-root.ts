/**
 * Checks whether a gateway would start with this tree: runs every check over one root of a listing. Names first, then contents in one
 * stream, so that memory follows the number of files and not their size.
 */
import { type Damage, damageOf } from '../model/json-damage.ts'
import { damageRules } from '../rules/about-json.ts'
import { crossFindings, projectChecks, treeChecks } from '../rules/checks.ts'
import { type CheckReport, type Collector, type CollectorOptions, createCollector } from '../rules/findings.ts'
import { inRoot, type TreeFacts } from '../rules/input.ts'
import { collectionsByName, userModes } from '../model/inheritance.ts'
import type { CrossFindings } from '../rules/overview.ts'
import { type Listing, readTexts } from '../model/listing.ts'
import { maxModeBytes, type ParsedMode, parseMode } from '../model/manifests.ts'
import { FileTable } from '../model/file-table.ts'
import {
  createLearner,
  type Checked,
  KeptFindings,
  learned,
  nothingFound,
  type Previous,
  planSteps,
  type Size,
  type CheckStep,
  type TreeFindings,
} from './incremental-cache.ts'
import type { RuleId } from '../rules/rules.ts'
import { isProjectFolder, parseProject } from '../model/projects.ts'
import { namesInCollections, namesInProjects } from './names-elsewhere.ts'
import { aboveRepository, type Collection, modeManifest, nameOf, projectManifest, type Tree, treeOf } from '../model/tree.ts'
import { checkSteps } from './check-resource.ts'

/** How one root is checked; omitted options have no influence. */
export type CheckOptions = CollectorOptions & {
  /** Folder that holds the collections; `''` is the top. */
  root: string
  /** The kind of the root. Default: collections. */
  kind?: TreeFacts['kind'] | undefined
  /** Every root of the repository whose files are also in `files`. */
  roots?: Readonly<Record<TreeFacts['kind'], readonly string[]>> | undefined
  /** Whether gateways get `core` from this tree. Default: whether the tree has it. */
  coreDelivered?: boolean | undefined
  /** Files are templates: their content is known only after rendering. */
  templated?: boolean | undefined
  /** The files of the listing, if known. */
  files?: FileTable | undefined
  /** Called when little memory is in use. */
  reclaim?: (() => void) | undefined
  /** The kept state of the same root; the state of this check replaces it. */
  memory?: Previous | undefined
}

/** Rules about names that also inspect the manifests of collections. */
const contentRules: ReadonlySet<RuleId> = new Set(['invalid-config-mode', ...damageRules])

/** A resource takes some 700 bytes while it is read, and a reader as much as some 30 of them. */
const stepsAtOnce = 500

/** Checks one root of a listing. Throws what reading throws, and nothing else for any content. */
export async function checkCollections(listing: Listing, options: CheckOptions, signal: AbortSignal): Promise<CheckReport> {
  const { memory } = options
  const facts = await readTree(listing, options, signal)
  const collector = createCollector(options, facts.family)
  const inTree = new KeptFindings()
  for (const [rule, check] of facts.kind === 'projects' ? projectChecks : treeChecks) {
    if (options.templated === true && contentRules.has(rule)) continue
    for (const found of check(facts)) {
      collector.add(rule, found)
      inTree.add(rule, found)
    }
  }
  const cross = crossFindings(facts)
  const { known, noted } = options.templated === true ? nothingRead() : await checkContents(listing, facts, collector, options, signal)
  const crossFound = addCrossFindings(collector, cross, noted)
  const size = sizeOf(facts.tree)
  if (memory !== undefined) memory.learned = learned(facts, { found: inTree.list, cross, crossFound }, known, size)
  return collector.report(size)
}

function nothingRead(): Read {
  return { known: new Map(), noted: [] }
}

/** Adds the findings that follow from the notes of all resources together. Returns them, unless they are too large to keep. */
export function addCrossFindings(
  collector: Collector,
  cross: CrossFindings,
  noted: Iterable<readonly [string, Checked]>,
): TreeFindings['crossFound'] {
  const all = new KeptFindings()
  for (const each of cross(repeatedOrNoted(noted))) {
    collector.add(...each)
    all.add(...each)
  }
  return all.list
}

function* repeatedOrNoted(noted: Iterable<readonly [string, Checked]>) {
  for (const [folder, { notes, digest }] of noted) yield [folder, { notes, isRepeated: digest !== undefined }] as const
}

function sizeOf({ collections }: Tree): Size {
  return {
    resources: collections.reduce((sum, { resources }) => sum + resources.length, 0),
    collections: collections.filter(({ manifest }) => manifest !== undefined).length,
  }
}

/** A folder of projects beside collections is not a collection. */
function holdsProjects({ manifest, strays }: Collection): boolean {
  return manifest === undefined && strays.some(({ files }) => files.some(({ path }) => nameOf(path) === projectManifest))
}

/** Lists the tree and reads the manifests of its collections. */
export async function readTree(
  listing: Listing,
  {
    root,
    kind = 'collections',
    modesInUse,
    coreDelivered,
    files,
    roots = { collections: [], projects: [] },
  }: Pick<CheckOptions, 'root' | 'kind' | 'modesInUse' | 'coreDelivered' | 'files' | 'roots'>,
  signal: AbortSignal,
): Promise<TreeFacts> {
  const isProjects = kind === 'projects'
  const otherRoots = roots[kind].filter((other) => other !== root)
  const tree = treeOf(
    files ?? (await FileTable.list(listing, root === aboveRepository ? '' : root, signal)),
    root,
    isProjects ? projectManifest : modeManifest,
  )
  if (isProjects) tree.collections = tree.collections.filter(({ name, manifest }) => manifest !== undefined || isProjectFolder(root, name))
  else tree.collections = tree.collections.filter((collection) => !holdsProjects(collection))
  const { modes, damagedModes } = await readModes(listing, tree, isProjects ? parseProject : parseMode, signal)
  const family = collectionsByName(tree, modes)
  const delivered = coreDelivered ?? family.byName.has('core')
  // A project with its own repository inherits from one in another repository.
  const isElsewhere = (project: string): boolean =>
    root === aboveRepository || otherRoots.some((other) => holds(files, inRoot({ root: other }, project)))
  const keys = isProjects ? [] : await findKeys(listing, files, root, signal)
  const isFragment = modes.size === 0
  const isLaidOver =
    isFragment && !isProjects && otherRoots.some((other) => files?.has(inRoot({ root: other }, `core/${modeManifest}`)) === true)
  const elsewhere =
    files === undefined ? undefined : isProjects ? namesInCollections(files, roots.collections) : namesInProjects(files, roots.projects)
  const context = { root, kind, keys, elsewhere, otherRoots, isElsewhere, hasModes: userModes(family).length > 0, isFragment, isLaidOver }
  return { ...context, tree, family, modes, damagedModes, modesInUse, coreDelivered: delivered }
}

function holds(files: FileTable | undefined, folder: string): boolean {
  if (files === undefined) return false
  const { start, end } = files.rangeBelow(folder)
  return start < end
}

/** The keys of a gateway beside the folder `resources` of its configuration, if they are listed. */
async function findKeys(listing: Listing, files: FileTable | undefined, root: string, signal: AbortSignal): Promise<string[]> {
  if (nameOf(root) !== 'resources') return []
  const folder = `${root.slice(0, -'resources'.length)}ignition/keys`
  const table = files ?? (await FileTable.list(listing, folder, signal))
  const { start, end } = table.rangeBelow(folder)
  return Array.from(table.entries(start, end), ({ path }) => path)
}

async function readModes(
  listing: Listing,
  { collections }: Tree,
  parse: typeof parseMode,
  signal: AbortSignal,
): Promise<{ modes: Map<string, ParsedMode>; damagedModes: Map<string, Damage> }> {
  const manifests = collections.flatMap(({ manifest }) => manifest ?? [])
  const texts = await readTexts(listing, manifests, maxModeBytes, signal)
  const modes = new Map<string, ParsedMode>()
  const damagedModes = new Map<string, Damage>()
  for (const { name, manifest } of collections) {
    if (manifest === undefined) continue
    const text = texts.get(manifest.path)
    modes.set(name, parse(text))
    const damage = text === undefined ? undefined : damageOf(text, { keys: true })
    if (damage !== undefined) damagedModes.set(name, damage)
  }
  return { modes, damagedModes }
}

/**
 * `known` is the state to keep: nothing if it is too large. `noted` are resources by their folder, with the data that other resources
 * depend on.
 */
type Read = { known: Map<string, Checked> | undefined; noted: (readonly [string, Checked])[] }

/** Reads the resources without kept state; the order of findings does not depend on what was read. */
async function checkContents(
  listing: Listing,
  facts: TreeFacts,
  collector: Collector,
  { memory, reclaim }: CheckOptions,
  signal: AbortSignal,
): Promise<Read> {
  const noted: Read['noted'] = []
  const learner = createLearner(memory !== undefined)
  const checkAll = async (steps: readonly CheckStep[]): Promise<void> => {
    const unread = steps.filter(({ checked }) => checked === undefined)
    if (unread.length > 0) await checkSteps(listing, unread, facts, signal)
    for (const step of steps) {
      for (const [rule, found] of step.checked?.found ?? []) collector.add(rule, found)
      learner.learn(step)
      if (step.checked?.notes !== undefined || step.isRepeated) noted.push([step.resource.folder, step.checked ?? nothingFound])
    }
  }
  let steps: CheckStep[] = []
  for (const step of planSteps(facts, memory)) {
    steps.push(step)
    if (steps.length < stepsAtOnce) continue
    await checkAll(steps)
    steps = []
    reclaim?.()
  }
  await checkAll(steps)
  return { known: learner.known(), noted }
}
