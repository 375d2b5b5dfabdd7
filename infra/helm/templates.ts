/**
 * The bodies of those combinators that take more than one function of Helm's. Each is called with its argument as the dot. Pure.
 */
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

/** An object of texts and numbers to one of texts, as JSON. */
export const textsTemplate = [
  '{{- $texts := dict }}',
  '{{- range $key, $value := . }}',
  '{{- $_ := set $texts $key (ternary $value (toRawJson $value) (kindIs "string" $value)) }}',
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
