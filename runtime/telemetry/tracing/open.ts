/**
 * Loads OpenTelemetry only if configured: most processes do not need its memory.
 */
import type { TracingSettings } from './settings.ts'
import { noTracing, type TracedProcess, type Tracing } from './trace.ts'

/** The exporter: next to the bundle, or the source file itself. */
const program = import.meta.url.endsWith('/tracing/open.ts') ? new URL('otlp.ts', import.meta.url) : new URL('tracing.mjs', import.meta.url)

/** Traces nothing without settings. */
export async function openTracing(settings: TracingSettings | undefined, traced: TracedProcess): Promise<Tracing> {
  if (settings === undefined) return noTracing
  const { openOtlp } = (await import(program.href)) as typeof import('./otlp.ts')
  return openOtlp(settings, traced)
}
