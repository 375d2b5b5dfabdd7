/**
 * Determines the deployment mode a gateway starts with. The gateway reads it from a Java property, set as an argument of its container or
 * in ignition.conf; the environment variable is a convention of charts that expand it into the argument. Pure.
 */

/** Where the deployment mode was found. */
export const modeOrigins = ['Spec', 'Target', 'Argument', 'IgnitionConf', 'Environment', 'Gateway', 'None'] as const
/** See `modeOrigins`. */
export type ModeOrigin = (typeof modeOrigins)[number]

/** The same places as texts name them. */
export const modeOriginWords: Readonly<Record<ModeOrigin, string>> = {
  Spec: 'spec',
  Target: '--mode',
  Argument: 'argument',
  IgnitionConf: 'ignition.conf',
  Environment: 'DEPLOYMENT_MODE',
  Gateway: 'the running gateway',
  None: 'none',
}

/** `name` is `''` if the gateway runs without a mode. */
export type Mode = {
  name: string
  from: ModeOrigin
  /** The mode after the next restart, if it differs from `name`. */
  configured?: { name: string; from: ModeOrigin }
}

/** The known sources of a gateway's mode; an undefined member is unknown. */
export type ModeSources = {
  /** Set for this gateway by the operator of the sync. */
  target?: string | undefined
  /** Arguments or command of the gateway's container that hold the property, expanded. */
  argument?: string | undefined
  /** Text of `data/ignition.conf`. */
  ignitionConf?: string | undefined
  /** `DEPLOYMENT_MODE` of the gateway's container. */
  environment?: string | undefined
  /** What the running gateway reports; `''` is none, undefined is unknown. */
  gateway?: string | undefined
}

const property = /-Dignition\.config\.mode=("[^"]*"|[^\s"]*)/

/** Returns the first source that names a mode; a running gateway takes precedence, because it reads the mode only once, at its start. */
export function findMode(sources: ModeSources): Mode {
  if (sources.target !== undefined) return { name: sources.target, from: 'Target' }
  const configured = configuredMode(sources)
  if (sources.gateway === undefined) return configured ?? { name: '', from: 'None' }
  const mode: Mode = { name: sources.gateway, from: 'Gateway' }
  const agrees = configured === undefined || configured.name.toLowerCase() === sources.gateway.toLowerCase()
  return agrees ? mode : { ...mode, configured }
}

/** Returns the configured mode, regardless of the mode that the gateway runs with now. */
export function configuredMode({ argument, ignitionConf, environment }: ModeSources): Mode | undefined {
  const byArgument = argument === undefined ? undefined : modeInArgument(argument)
  if (byArgument !== undefined) return { name: byArgument, from: 'Argument' }
  const byConf = ignitionConf === undefined ? undefined : modeInIgnitionConf(ignitionConf)
  if (byConf !== undefined) return { name: byConf, from: 'IgnitionConf' }
  return environment === undefined || environment === '' ? undefined : { name: environment, from: 'Environment' }
}

/** Returns the property in a text of arguments; the last one wins, as in Java. */
export function modeInArgument(text: string): string | undefined {
  const found = [...text.matchAll(new RegExp(property, 'g'))].at(-1)?.[1]
  return found === undefined ? undefined : unquoted(found)
}

/** Returns the property in a line `wrapper.java.additional.N=…`; a line that begins with # is a comment. */
export function modeInIgnitionConf(text: string): string | undefined {
  const values = text
    .split(/\r?\n/)
    .flatMap((line) => /^\s*wrapper\.java\.additional\.[0-9]+\s*=\s*(.*)$/.exec(line)?.[1] ?? [])
    .flatMap((value) => modeInArgument(value) ?? [])
  return values.at(-1)
}

function unquoted(text: string): string {
  return text.replace(/^"(.*)"$/, '$1')
}
