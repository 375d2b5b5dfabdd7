/**
 * Reads and checks the configuration of the entry points; the only reader of the environment.
 */
import os from 'node:os'
import path from 'node:path'
import * as v from 'valibot'
import { type AgentSettings, parseAgentSettings } from './agent.ts'
import { Fault } from '../platform/fault.ts'
import { type ControllerSettings, controllerSettings, controllerSettingsVariable } from './controller.ts'
import { parseTracing, type TracingSettings } from '../telemetry/tracing/settings.ts'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The controller's configuration. */
export type ControllerConfig = {
  settings: ControllerSettings
  /** The identity in the Lease: the pod's name. */
  identity: string
  /** The address at which other pods reach this one; undefined outside a cluster. */
  podIP: string | undefined
  /** A kubeconfig file; undefined means the pod's own ServiceAccount. */
  kubeconfig: string | undefined
  /** The API server's host, in a pod. */
  apiServerHost: string | undefined
  /** Undefined: tracing is off. Agents get the same settings. */
  tracing: TracingSettings | undefined
}

/** Throws InvalidConfiguration naming the variable and the key. */
export function readControllerConfig(environment: Environment = process.env): ControllerConfig {
  return {
    settings: readJson(environment, controllerSettingsVariable, controllerSettings),
    identity: environment['POD_NAME'] ?? os.hostname(),
    podIP: environment['POD_IP'],
    kubeconfig: environment['KUBECONFIG'],
    apiServerHost: environment['KUBERNETES_SERVICE_HOST'],
    tracing: parseTracing(environment),
  }
}

/** The proxies for this machine's programs: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in upper or lower case. */
export function readProxies(environment: Environment = process.env): {
  https: string | undefined
  http: string | undefined
  noProxy: string
} {
  const of = (name: string): string | undefined =>
    [environment[name], environment[name.toUpperCase()]].find((value) => value !== undefined && value !== '')
  return { https: of('https_proxy') ?? of('all_proxy'), http: of('http_proxy') ?? of('all_proxy'), noProxy: of('no_proxy') ?? '' }
}

/** Throws InvalidConfiguration naming the variable. */
export function readAgentConfig(environment: Environment = process.env): AgentSettings & Pick<ControllerConfig, 'tracing'> {
  return { ...parseAgentSettings(environment), tracing: parseTracing(environment) }
}

/** Returns the user's kubeconfig paths, as kubectl reads them: $KUBECONFIG may name several files; and whether this is a pod. */
export function readKubeconfigs(environment: Environment = process.env): { files: string[]; home: string | undefined; inPod: boolean } {
  return {
    files: (environment['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== ''),
    home: environment['HOME'],
    inPod: environment['KUBERNETES_SERVICE_HOST'] !== undefined,
  }
}

/** Whether the user wants no color, by https://no-color.org or because the terminal has none. */
export function readNoColor(environment: Environment = process.env): boolean {
  return (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb'
}

/** Returns the folders for a user's state, by systemd and the XDG base directory specification. */
export function readStateHomes(environment: Environment = process.env): {
  stateDirectory: string | undefined
  xdgStateHome: string | undefined
  home: string | undefined
} {
  return { stateDirectory: environment['STATE_DIRECTORY'], xdgStateHome: environment['XDG_STATE_HOME'], home: environment['HOME'] }
}

/** Reads one variable that holds JSON. Throws InvalidConfiguration. */
export function readJson<Schema extends v.GenericSchema>(environment: Environment, name: string, schema: Schema): v.InferOutput<Schema> {
  const text = environment[name]
  if (text === undefined || text === '') throw new Fault('InvalidConfiguration', `environment variable ${name} is missing`)
  let document: unknown
  try {
    document = JSON.parse(text, (key, value: unknown) => {
      // Records would drop such keys, so a selector would select more than it specifies.
      if (key === '__proto__' || key === 'constructor' || key === 'prototype')
        throw new Fault('InvalidConfiguration', `"${key}" is not a key`)
      return value
    })
  } catch (error) {
    const why = error instanceof Fault ? `: ${error.message}` : ' is not valid JSON'
    throw new Fault('InvalidConfiguration', `environment variable ${name}${why}`, { cause: error })
  }
  const parsed = v.safeParse(schema, document)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw new Fault('InvalidConfiguration', `environment variable ${name}: ${v.getDotPath(issue) ?? 'document'}: ${issue.message}`)
}
