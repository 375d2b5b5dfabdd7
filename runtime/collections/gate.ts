/**
 * The gate: whether a commit may be published, judged on what its profiles would deliver. One check at a time, each verdict kept, so that
 * a hundred GatewaySyncs of one repository cost one check.
 */
import type { Verdict } from '../gatewaysync/decide.ts'
import { Fault } from '../fault.ts'
import { canonicalJson, type ResolvedProfile, sourceRoots } from '../gatewaysync/profile.ts'
import type { GatewaySyncSpec } from '../gatewaysync/spec.ts'
import { type CommitHash, isWithin, parseRelativePath, type RelativePath } from '../gatewaysync/values.ts'
import { checkCollections, type Finding } from './check.ts'
import { foldName } from './inheritance.ts'
import { type Entry, type Listing, readTexts } from './listing.ts'
import { findRoots } from './roots.ts'
import { isRuleId } from './rules.ts'
import { gateSeverity, maxSettingsBytes, noSettings, parseSettings, type Settings, settingsFile } from './severities.ts'

type VerdictItem = Extract<Verdict, { kind: 'checked' }>['items'][number]

export type GateRequest = {
  /** Every profile of the GatewaySync. */
  profiles: readonly ResolvedProfile[]
  validation: GatewaySyncSpec['validation']
  /** Modes that gateways report; undefined: none is known, so every mode counts. */
  modesInUse: readonly string[] | undefined
  commit: CommitHash
}

export type Gate = {
  /** `listing` must cover `gateRoots(profiles)`. Throws what reading throws. */
  check(listing: Listing, request: GateRequest, signal: AbortSignal): Promise<Verdict>
}

export type GateDeps = {
  /** Whether a path relative to its source is left out, given exclude patterns. Throws InvalidSpec. */
  excluder(patterns: readonly string[]): (path: string) => boolean
}

/** A verdict is at most 50 findings, some 20 KiB. */
const keptVerdicts = 200
const maxItems = 50
const maxPathLength = 4096
const maxMessageLength = 1024

/** What a listing for the gate must hold: the sources of all profiles, and the repository's own settings. */
export function gateRoots(profiles: readonly ResolvedProfile[]): RelativePath[] {
  const all = parseRelativePath('')
  const roots = [...new Set(profiles.flatMap((profile) => sourceRoots(profile)))]
  return roots.includes(all) ? [all] : [...roots, parseRelativePath(settingsFile)]
}

export function createGate(deps: GateDeps): Gate {
  const verdicts = new Map<string, Verdict>()
  let queue: Promise<unknown> = Promise.resolve()
  const oneAtATime = async (work: () => Promise<Verdict>): Promise<Verdict> => {
    const run = queue.then(work, work)
    queue = run.catch(() => undefined)
    return await run
  }
  const remember = (key: string, verdict: Verdict): void => {
    verdicts.set(key, verdict)
    const [oldest] = verdicts.keys()
    if (verdicts.size > keptVerdicts && oldest !== undefined) verdicts.delete(oldest)
  }
  return {
    async check(listing, request, signal) {
      if (request.validation.policy === 'Off' || request.profiles.length === 0) return { kind: 'notChecked' }
      const key = keyOf(request)
      return await oneAtATime(async () => {
        const known = verdicts.get(key)
        if (known !== undefined) return known
        signal.throwIfAborted()
        const verdict = await judge(deps, listing, request, signal)
        remember(key, verdict)
        return verdict
      })
    },
  }
}

/** What decides a verdict besides the rules of this version: content, what of it is delivered, severities, modes. */
function keyOf({ profiles, validation, modesInUse, commit }: GateRequest): string {
  const modes = modesInUse === undefined ? 'any' : [...new Set(modesInUse.map(foldName))].toSorted()
  return canonicalJson({ commit, modes, rules: validation.rules, delivered: profiles.map(deliveryKey) })
}

async function judge(deps: GateDeps, listing: Listing, request: GateRequest, signal: AbortSignal): Promise<Verdict> {
  const entries: Entry[] = []
  for await (const batch of listing.list(signal)) for (const entry of batch) entries.push(entry)
  const { settings, problem } = await readSettings(listing, entries, signal)
  const severity = gateSeverity(settings, request.validation.rules)
  const counts = { errors: 0, warnings: 0 }
  const items = new Map<string, VerdictItem>()
  const add = (item: VerdictItem): void => {
    items.set(`${item.rule} ${item.path} ${item.message}`, item)
  }
  for (const item of settingsProblems(problem, request.validation.rules)) {
    counts.warnings += 1
    add(item)
  }
  let checked = false
  for (const profile of distinct(request.profiles)) {
    const { delivered, templated } = delivery(deps, profile)
    const wanted = entries.filter(({ path }) => delivered(path))
    for (const root of findRoots(wanted.map(({ path }) => path))) {
      checked = true
      const own: Listing = {
        async *list() {
          yield wanted
        },
        read: listing.read,
      }
      const options = { root, severity, modesInUse: request.modesInUse, templated: templated(root), decidingOnly: true, maxFindings: 500 }
      const { findings, summary } = await checkCollections(own, options, signal)
      counts.errors += summary.errors
      counts.warnings += summary.warnings
      for (const finding of findings) add(itemOf(finding))
    }
  }
  if (!checked) return { kind: 'notChecked' }
  const sorted = [...items.values()].toSorted((a, b) => (a.severity === b.severity ? 0 : a.severity === 'error' ? -1 : 1))
  return { kind: 'checked', ...exact(counts, sorted), items: sorted.slice(0, maxItems) }
}

/** Profiles that share a root report the same twice; where every finding was kept the distinct ones are counted. */
function exact(counts: { errors: number; warnings: number }, items: readonly VerdictItem[]): { errors: number; warnings: number } {
  if (counts.errors + counts.warnings >= 500) return counts
  const errors = items.filter(({ severity }) => severity === 'error').length
  return { errors, warnings: items.length - errors }
}

function itemOf({ rule, severity, path, message }: Finding): VerdictItem {
  return { rule, severity, path: path.slice(0, maxPathLength), message: message.slice(0, maxMessageLength) }
}

async function readSettings(
  listing: Listing,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<{ settings: Settings; problem: string | undefined }> {
  const file = entries.find(({ path }) => path === settingsFile)
  if (file === undefined) return { settings: noSettings, problem: undefined }
  const bytes = (await readTexts(listing, [file], maxSettingsBytes, signal)).get(settingsFile)
  if (bytes === undefined) return { settings: noSettings, problem: `${settingsFile} is larger than ${maxSettingsBytes} bytes` }
  try {
    return { settings: parseSettings(bytes.toString('utf8')), problem: undefined }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { settings: noSettings, problem: error.message }
  }
}

/** Settings that cannot take effect never block, and are never silent. */
function* settingsProblems(problem: string | undefined, rules: Readonly<Record<string, string>>): Generator<VerdictItem> {
  const item = { rule: 'invalid-settings', severity: 'warning' } as const
  if (problem !== undefined) yield { ...item, path: settingsFile, message: problem.slice(0, maxMessageLength) }
  for (const rule of Object.keys(rules)) {
    if (!isRuleId(rule)) yield { ...item, path: 'spec.validation.rules', message: `there is no rule "${rule}"` }
  }
}

type Delivery = { delivered(path: string): boolean; templated(root: string): boolean }

/** Which files of the commit reach a gateway by this profile, and where they are rendered on the way. */
function delivery({ excluder }: GateDeps, profile: ResolvedProfile): Delivery {
  const covers: ((path: string) => boolean)[] = []
  const rendered: string[] = []
  const { collections, excludePatterns } = profile
  if (collections !== undefined) {
    const [root = ''] = sourceRoots({ collections, mappings: [] })
    const excluded = excluder(excludePatterns)
    covers.push((path) => {
      const below = belowFolder(path, root)
      if (below === undefined) return false
      const slash = below.indexOf('/')
      return slash > 0 && foldName(below.slice(0, slash)) !== 'local' && !excluded(below.slice(slash + 1))
    })
  }
  for (const mapping of profile.mappings) {
    const [source = ''] = sourceRoots({ collections: undefined, mappings: [mapping] })
    const excluded = excluder([...excludePatterns, ...(mapping.excludePatterns ?? [])])
    if (mapping.template) rendered.push(source)
    if (mapping.type !== 'dir') continue
    covers.push((path) => {
      const below = belowFolder(path, source)
      return below !== undefined && !excluded(below)
    })
  }
  return {
    delivered: (path) => !isCache(path) && covers.some((covered) => covered(path)),
    templated: (root) => rendered.some((source) => isWithin(root, source) || isWithin(source, root)),
  }
}

function belowFolder(path: string, folder: string): string | undefined {
  if (folder === '') return path
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined
}

function isCache(path: string): boolean {
  return `/${path}`.includes('/.resources/')
}

/** One of each kind: most profiles differ in what does not concern the checks. */
function distinct(profiles: readonly ResolvedProfile[]): ResolvedProfile[] {
  return [...new Map(profiles.map((profile) => [deliveryKey(profile), profile])).values()]
}

function deliveryKey({ collections, excludePatterns, mappings }: ResolvedProfile): string {
  const sources = mappings.map(({ source, type, template, excludePatterns: own }) => ({ source, type, template, own }))
  return canonicalJson({ root: collections?.root, excludePatterns, sources })
}
