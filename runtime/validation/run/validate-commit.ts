/**
 * Validation: whether a commit may be published, based on the files that its profiles would deliver. One check at a time; each verdict is
 * kept, so that a hundred GatewaySyncs of one repository cost one check.
 */
import type { Verdict } from '../../reconcile/decide/observation.ts'
import { type CacheEntry, FairCache } from '../../platform/async/fair-cache.ts'
import { Fault } from '../../platform/fault.ts'
import { checkCollections, type CheckOptions } from './check-root.ts'
import type { CheckFinding } from '../rules/findings.ts'
import { coveragesOf, type ValidationRequest, verdictBytes, verdictKey } from './coverage.ts'
import { contentReader, type Kept } from './delivered.ts'
import { type ValidationMemory, pack, takeOver } from './snapshot.ts'
import { type FileEntry, type Listing, readTexts, type VersionedListing } from '../model/listing.ts'
import type { FileTable } from '../model/file-table.ts'
import type { Previous } from './incremental-cache.ts'
import { type Placed, placeFindings } from './place-findings.ts'
import { createReclaimer } from './collect-garbage.ts'
import { recheckCollections } from './recheck.ts'
import { aboveRepository } from '../model/tree.ts'
import { isRuleId } from '../rules/rules.ts'
import { validationSeverity, maxSettingsBytes, noSettings, parseSettings, type Settings, settingsFile } from '../rules/severities.ts'

type StatusFinding = Extract<Verdict, { kind: 'checked' }>['items'][number]

/** Validates commits, one at a time, in the order of the calls. */
export type Validator = {
  /** `listing` must cover `validatedRoots(profiles)`. Throws what reading throws. */
  validate(listing: VersionedListing, request: ValidationRequest, signal: AbortSignal): Promise<Verdict>
  /** Hands over the state to another instance; only while no validation runs. */
  handOver(): ValidationMemory
}

/** Of `verdictBytes`: a hundred of the largest, and thousands without findings. */
export const maxVerdictBytes = 1024 * 1024
const maxItems = 50
/** Findings of a root that are kept; the others are only counted. */
const maxFindings = 500
/** Bytes of all items together: each GatewaySync has its own in its status, which the controller keeps. */
const maxItemsBytes = 8 * 1024
const maxPathLength = 4096
const maxMessageLength = 1024

/** `memory`: the state of an earlier instance. */
export function createValidator(memory?: ValidationMemory, reclaim: () => void = createReclaimer()): Validator {
  const before = memory === undefined ? { verdicts: [], contents: [] } : takeOver(memory)
  const verdicts = new FairCache<Verdict>({ max: maxVerdictBytes })
  for (const { owner, key, value, size } of before.verdicts) verdicts.set(owner, key, value, { size })
  const kept = new KeptContents(before.contents)
  reclaim()
  let queue: Promise<unknown> = Promise.resolve()
  const oneAtATime = async (work: () => Promise<Verdict>): Promise<Verdict> => {
    const run = queue.then(work, work)
    queue = run.catch(() => undefined)
    return await run
  }
  return {
    async validate(listing, request, signal) {
      if (request.validation.policy === 'Off' || request.profiles.length === 0) return { kind: 'notChecked' }
      const key = verdictKey(request)
      return await oneAtATime(async () => {
        const known = verdicts.get(key)
        if (known !== undefined) return known
        signal.throwIfAborted()
        const verdict = await checkCoverages(listing, request, kept, reclaim, signal)
        reclaim()
        verdicts.set(request.namespace ?? '', key, verdict, { size: verdictBytes(verdict) })
        return verdict
      })
    },
    handOver: () => pack(verdicts.entries(), kept.takeAll()),
  }
}

async function checkCoverages(
  listing: VersionedListing,
  request: ValidationRequest,
  kept: KeptContents,
  reclaim: () => void,
  signal: AbortSignal,
): Promise<Verdict> {
  const coverages = coveragesOf(request.profiles)
  const contentOf = contentReader(listing, coverages)
  const counts = { errors: 0, warnings: 0 }
  const items = new Map<string, StatusFinding>()
  const add = (item: StatusFinding): void => {
    items.set(`${item.rule} ${item.path} ${item.message}`, item)
  }
  let options: Omit<CheckOptions, 'root'> | undefined
  let isChecked = false
  for (const coverage of coverages) {
    const key = `${request.namespace ?? ''} ${request.line} ${coverage.key}`
    const content = await contentOf(coverage, kept.take(key), signal)
    if (options === undefined) {
      const { settings, problem } = await readSettings(listing, content.settings, signal)
      const severity = validationSeverity(settings, request.validation.rules)
      options = { severity, modesInUse: request.modesInUse, decidingOnly: true, maxFindings, reclaim }
      for (const item of settingsProblems(problem, request.validation.rules)) {
        counts.warnings += 1
        add(item)
      }
    }
    const all = [
      ...content.roots.map((root) => ({ root, kind: 'collections' as const })),
      ...content.projectRoots.map((root) => ({ root, kind: 'projects' as const })),
    ]
    isChecked ||= all.length > 0
    const learned = new Map<string, Previous['learned']>()
    for (const { root, kind } of all) {
      const memory = content.memory(root, kind)
      // Every gateway reads all projects that it receives.
      const decidingOnly = kind === 'collections'
      const own = {
        ...options,
        root,
        kind,
        roots: { collections: content.roots, projects: content.projectRoots },
        decidingOnly,
        templated: coverage.templated(root === aboveRepository ? '' : root),
        files: content.files,
        memory,
      }
      const { findings, summary } = (await recheckCollections(listing, own, signal)) ?? (await checkCollections(listing, own, signal))
      learned.set(`${kind} ${root}`, memory.learned)
      counts.errors += summary.errors
      counts.warnings += summary.warnings
      for (const finding of await placed(findings, listing, content.files, signal)) add(itemOf(finding))
    }
    const { settings, roots, projectRoots, projects, files } = content
    kept.set(request.namespace ?? '', key, { commit: request.commit, settings, roots, projectRoots, projects, files, learned })
  }
  if (!isChecked) return { kind: 'notChecked' }
  const sorted = [...items.values()].toSorted((a, b) => (a.severity === b.severity ? 0 : a.severity === 'error' ? -1 : 1))
  return { kind: 'checked', ...exact(counts, sorted), items: firstItems(sorted) }
}

/** As many as a status has space for. */
function firstItems(items: readonly StatusFinding[]): StatusFinding[] {
  let bytes = 0
  const first = items.slice(0, maxItems)
  const end = first.findIndex(({ rule, path, message }) => (bytes += Buffer.byteLength(rule + path + message)) > maxItemsBytes)
  return end < 0 ? first : first.slice(0, end)
}

/** Profiles that share a root report the same twice; if every finding was kept, the distinct ones are counted. */
function exact(counts: { errors: number; warnings: number }, items: readonly StatusFinding[]): { errors: number; warnings: number } {
  if (counts.errors + counts.warnings >= maxFindings) return counts
  const errors = items.filter(({ severity }) => severity === 'error').length
  return { errors, warnings: items.length - errors }
}

/** With lines for as many findings as a verdict holds; errors are first. */
async function placed(
  findings: readonly CheckFinding[],
  listing: Listing,
  files: FileTable,
  signal: AbortSignal,
): Promise<Placed<CheckFinding>[]> {
  const first = await placeFindings(listing, (path) => files.find(path), findings.slice(0, maxItems), signal)
  return [...first, ...findings.slice(maxItems)]
}

function itemOf({ rule, severity, path, message, place }: Placed<CheckFinding>): StatusFinding {
  const line = place === undefined ? {} : { line: place.line }
  return { rule, severity, path: path.slice(0, maxPathLength), ...line, message: message.slice(0, maxMessageLength) }
}

async function readSettings(
  listing: Listing,
  file: FileEntry | undefined,
  signal: AbortSignal,
): Promise<{ settings: Settings; problem: string | undefined }> {
  if (file === undefined) return { settings: noSettings, problem: undefined }
  const bytes = (await readTexts(listing, [file], maxSettingsBytes, signal)).get(settingsFile)
  if (bytes === undefined) return { settings: noSettings, problem: `${settingsFile} is larger than ${maxSettingsBytes} bytes` }
  try {
    return { settings: await parseSettings(bytes.toString('utf8')), problem: undefined }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { settings: noSettings, problem: error.message }
  }
}

/** Settings without effect never block a commit, and are always reported. */
function* settingsProblems(problem: string | undefined, rules: Readonly<Record<string, string>>): Generator<StatusFinding> {
  const item = { rule: 'invalid-settings', severity: 'warning' } as const
  if (problem !== undefined) yield { ...item, path: settingsFile, message: problem.slice(0, maxMessageLength) }
  for (const rule of Object.keys(rules)) {
    if (!isRuleId(rule)) yield { ...item, path: 'spec.validation.rules', message: `there is no rule "${rule}"` }
  }
}

/** Enough for 40,000 files with paths of a hundred characters. A larger repository is validated from its full list each time. */
const maxContentBytes = 8 * 1024 * 1024
/** The size of a content without files (most repositories have no collections), and of the findings and notes of each file. */
const [bytesOfEmpty, learnedBytesOfFile] = [2048, 64]

/** The kept contents, by line and coverage. Beyond the maximum, the namespace with the largest loses its least recently used content. */
class KeptContents {
  readonly #contents = new FairCache<Kept>({ max: maxContentBytes })

  constructor(before: Iterable<CacheEntry<Kept>>) {
    for (const { owner, key, value } of before) this.set(owner, key, value)
  }

  /** Removes and returns it: a state that changes during a check is kept again only if the check succeeds. */
  take(key: string): Kept | undefined {
    const kept = this.#contents.get(key)
    this.#contents.delete(key)
    return kept
  }

  set(namespace: string, key: string, kept: Kept): void {
    this.#contents.set(namespace, key, kept, { size: bytesOfEmpty + kept.files.bytes + learnedBytesOfFile * kept.files.length })
  }

  /** Removes and returns everything. */
  takeAll(): CacheEntry<Kept>[] {
    const all = [...this.#contents.entries()]
    for (const { key } of all) this.#contents.delete(key)
    return all
  }
}
