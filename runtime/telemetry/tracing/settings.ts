/**
 * Reads where to send spans from OpenTelemetry's variables. Injection passes the controller's settings to agents. Pure.
 */
import * as v from 'valibot'
import { Fault } from '../../platform/fault.ts'

/** The variables of OpenTelemetry's specification that enable traces. */
export const tracingVariables = { endpoint: 'OTEL_EXPORTER_OTLP_ENDPOINT', ratio: 'OTEL_TRACES_SAMPLER_ARG' } as const

const tracingSettings = v.object({
  /** Base of a receiver of OTLP over HTTP, such as http://collector.monitoring:4318. */
  endpoint: v.pipe(v.string(), v.maxLength(2048), v.regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#@]*)?$/, 'must be an http or https URL')),
  /** The share of traced requests, from 0 to 1. */
  ratio: v.optional(
    v.pipe(v.string(), v.regex(/^[0-9.]{1,20}$/, 'must be a number'), v.transform(Number), v.minValue(0), v.maxValue(1)),
    '1',
  ),
})

export type TracingSettings = v.InferOutput<typeof tracingSettings>

/** Reads the settings of traces; undefined without an endpoint: tracing is off. Throws InvalidConfiguration naming the variable. */
export function parseTracing(environment: Readonly<Record<string, string | undefined>>): TracingSettings | undefined {
  const endpoint = environment[tracingVariables.endpoint] ?? ''
  if (endpoint === '') return undefined
  const parsed = v.safeParse(tracingSettings, { endpoint, ratio: environment[tracingVariables.ratio] })
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const variable = v.getDotPath(issue) === 'ratio' ? tracingVariables.ratio : tracingVariables.endpoint
  throw new Fault('InvalidConfiguration', `environment variable ${variable}: ${issue.message}`)
}

/** The environment from which another process reads the same settings; empty without any. */
export function tracingEnvironment(settings: TracingSettings | undefined): { name: string; value: string }[] {
  if (settings === undefined) return []
  return [
    { name: tracingVariables.endpoint, value: settings.endpoint },
    { name: tracingVariables.ratio, value: String(settings.ratio) },
  ]
}
