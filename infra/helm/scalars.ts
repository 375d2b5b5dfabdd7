/**
 * Known scalars as text of YAML inside of a Helm template. Pure.
 */

/** Braces that belong to the text: those of a dashboard or an alert are not for Helm. */
export function escaped(text: string): string {
  return text.replaceAll('{{', '{{ "{{" }}')
}

/** What YAML, in any version, reads as nothing but a text. */
const plain = /^[A-Za-z][-A-Za-z0-9_./]*$/
const reserved = /^(?:true|false|null|yes|no|on|off|y|n)$/i

/** Throws an Error for what no manifest holds: functions, undefined. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return plain.test(value) && !reserved.test(value) ? value : escaped(JSON.stringify(value))
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return JSON.stringify(value)
  throw new Error(`a manifest cannot hold a ${typeof value}`)
}

/** A key as YAML writes it, quoted where it would be read as something else than text. */
export function keyText(key: string): string {
  return scalarText(key)
}
