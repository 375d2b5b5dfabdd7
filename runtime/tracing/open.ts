/**
 * Loads OpenTelemetry only where there are settings: it is memory that most processes need for nothing.
 */
import type { TracingSettings } from './settings.ts'
import { noTracing, type TracedProcess, type Tracing } from './trace.ts'

/** What exports: beside our bundle, or the source itself. */
const program = import.meta.url.endsWith('/tracing/open.ts') ? new URL('otlp.ts', import.meta.url) : new URL('tracing.mjs', import.meta.url)

/** Traces nothing without settings. */
export async function openTracing(settings: TracingSettings | undefined, traced: TracedProcess): Promise<Tracing> {
  if (settings === undefined) return noTracing
  const { openOtlp } = (await import(program.href)) as typeof import('./otlp.ts')
  return openOtlp(settings, traced)
}
