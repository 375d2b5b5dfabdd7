/**
 * The bodies of those combinators that take more than one function of Helm's. Each is called with its argument as the dot. Pure.
 */
import { exponents, multiples } from '../../runtime/gatewaysync/quantity.ts'
import { millisecondsOf, units } from '../values/duration.ts'
import { textOf } from './expression.ts'

export const chartName = 'cluster-sync-operator'

/** Named templates of all charts of an installation share one space, so each begins with the chart's name. */
export function chartTemplate(name: string): string {
  return `${chartName}.${name}`
}

/** A list of objects to one object, as JSON. Sprig's own `merge` passes over empty texts. */
export const mergeTemplate = [
  '{{- $merged := dict }}',
  '{{- range $layer := . }}',
  '{{- range $key, $value := $layer }}',
  '{{- $_ := set $merged $key $value }}',
  '{{- end }}',
  '{{- end }}',
  '{{- toRawJson $merged -}}',
].join('\n')

/** An object of texts to the same without the empty ones, as JSON. */
export const presentTemplate = [
  '{{- $present := dict }}',
  '{{- range $key, $value := . }}',
  '{{- if ne $value "" }}',
  '{{- $_ := set $present $key $value }}',
  '{{- end }}',
  '{{- end }}',
  '{{- toRawJson $present -}}',
].join('\n')

/** A text as it is, a number as JSON writes it. */
export const textTemplate = '{{- ternary . (toRawJson .) (kindIs "string" .) -}}'

/** An object of texts and numbers to one of texts, as JSON. */
export const textsTemplate = [
  '{{- $texts := dict }}',
  '{{- range $key, $value := . }}',
  `{{- $_ := set $texts $key (include "${chartTemplate('text')}" $value) }}`,
  '{{- end }}',
  '{{- toRawJson $texts -}}',
].join('\n')

/** An object to JSON with a line for each member; the same as `memberPerLineJson`. */
export const memberPerLine = 'memberPerLine'
export const memberPerLineTemplate = [
  '{{- $lines := list }}',
  '{{- range $key, $value := . }}',
  '{{- $lines = append $lines (printf "  %s: %s" (toRawJson $key) (toRawJson $value)) }}',
  '{{- end }}',
  '{{- printf "{\\n%s\\n}" (join ",\\n" $lines) -}}',
].join('\n')

/** A quantity to its bytes or cores. A suffix that is in neither table is an exponent already. */
export const amountTemplate = [
  `{{- $exponents := ${textOf(exponents)} }}`,
  `{{- $multiples := ${textOf(multiples)} }}`,
  '{{- $number := regexFind "^[0-9.]+" . }}',
  '{{- $suffix := trimPrefix $number . }}',
  '{{- if hasKey $exponents $suffix }}{{ float64 (printf "%se%d" $number (get $exponents $suffix)) }}',
  '{{- else if hasKey $multiples $suffix }}{{ mulf (float64 $number) (get $multiples $suffix) }}',
  '{{- else }}{{ float64 . }}',
  '{{- end -}}',
].join('\n')

/** A duration of Prometheus to its milliseconds. */
export const millisecondsTemplate = [
  `{{- $units := ${textOf(Object.fromEntries(units.map((unit) => [unit, millisecondsOf(`1${unit}`)])))} }}`,
  '{{- $sum := 0.0 }}',
  '{{- range $part := regexFindAll "[0-9]+[a-z]+" . -1 }}',
  '{{- $unit := regexReplaceAll "^[0-9]+" $part "" }}',
  '{{- $sum = addf $sum (mulf (float64 (trimSuffix $unit $part)) (get $units $unit)) }}',
  '{{- end }}',
  '{{- $sum -}}',
].join('\n')

/** `list` of objects to a list of their members named `key`, as JSON. */
export const pluckTemplate = [
  '{{- $plucked := list }}',
  '{{- $key := .key }}',
  '{{- range $element := .list }}',
  '{{- $plucked = append $plucked (get $element $key) }}',
  '{{- end }}',
  '{{- toRawJson $plucked -}}',
].join('\n')
