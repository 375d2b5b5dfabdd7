/**
 * Keeps findings in every report until the commit, or the file that they are about, changes. Pure.
 */
import { Fault, type Reason } from '../../platform/fault.ts'
import { findingKey } from '../../api/findings.ts'
import { reportLimits } from '../../api/schema/report.ts'
import { type Mode, modeOriginWords } from '../../api/mode.ts'

/** `path` is a source or a destination, depending on the rule; `''` if the finding is about no file. */
export type Finding = { rule: string; path: string; message: string }

/** A fault with findings, because the paths that it is about may be longer than a message. */
export class Refused extends Fault {
  readonly findings: readonly Finding[]

  constructor(reason: Reason, message: string, findings: readonly Finding[]) {
    super(reason, message)
    this.findings = findings
  }
}

/** Rules about an event, reported once: they do not concern the next commit. */
const oneOff = new Set(['local-change', 'left-in-place', 'folder-verified'])

/**
 * Returns the findings after a cycle. `before` are those of the last cycle, `now` the new ones; `from` is the scope of the comparison:
 * everything, the difference to another commit, or the same commit; `touched` are the compared paths, sources or destinations.
 */
export function remainingFindings(
  before: readonly Finding[],
  { from, touched }: { from: 'same' | 'delta' | 'listing'; touched: ReadonlySet<string> },
  now: readonly Finding[],
): Finding[] {
  const kept =
    from === 'listing' ? [] : before.filter(({ rule, path }) => !isTouched(path, touched) && !(from === 'delta' && oneOff.has(rule)))
  return reportable([...now, ...kept])
}

/** A folder counts as touched if something below it is. */
function isTouched(path: string, touched: ReadonlySet<string>): boolean {
  if (touched.has(path)) return true
  return path !== '' && [...touched].some((each) => each.startsWith(`${path}/`))
}

/** Returns the findings without duplicates, truncated to the limits of a report. */
export function reportable(findings: readonly Finding[]): Finding[] {
  const unique = new Map(findings.map((finding) => [findingKey(finding), finding]))
  return [...unique.values()].slice(0, reportLimits.findings).map(({ rule, path, message }) => ({
    rule: rule.slice(0, reportLimits.ruleCharacters),
    path: path.slice(0, reportLimits.pathCharacters),
    message: message.slice(0, reportLimits.messageCharacters),
  }))
}

type KnownMode = Mode & { lastKnown?: true }

/** Returns findings about the mode that collections are delivered for: it is unknown, or changes at the gateway's restart. */
export function modeFindings(mode: KnownMode | undefined): Finding[] {
  const inWords = (name: string): string => (name === '' ? 'no mode' : `mode "${name}"`)
  if (mode?.configured !== undefined) {
    const { name, from } = mode.configured
    const message = `the gateway runs in ${inWords(mode.name)} and is set to start in ${inWords(name)} (${modeOriginWords[from]}); the files of its current mode are delivered`
    return [{ rule: 'mode-differs', path: '', message }]
  }
  if (mode?.lastKnown === true) {
    const origin = mode.from === 'None' ? '' : ` (${modeOriginWords[mode.from]})`
    return [
      {
        rule: 'mode-unknown',
        path: '',
        message: `the deployment mode is currently unknown; the last known mode, ${inWords(mode.name)}${origin}, remains in effect`,
      },
    ]
  }
  if (mode?.from !== 'None') return []
  const message =
    'no deployment mode was found in the arguments of the gateway, ignition.conf, DEPLOYMENT_MODE or at the gateway: only external and core are delivered'
  return [{ rule: 'mode-unknown', path: '', message }]
}
