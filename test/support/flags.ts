/**
 * The boolean installation values by key, and values made of such settings. Pure.
 */
import * as v from 'valibot'
import { type ValuesInput, valuesSchema } from '../../infra/values.ts'

/** Every key of the schema with a boolean value, such as `metrics.enabled`. */
export const flags: readonly string[] = flagsIn(v.parse(valuesSchema, {}), [])

function flagsIn(section: object, path: readonly string[]): string[] {
  return Object.entries(section).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === 'boolean') return [[...path, name].join('.')]
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? flagsIn(value, [...path, name]) : []
  })
}

/** Values with settings by key on top of others. */
export function withSettings(values: ValuesInput, settings: Readonly<Record<string, unknown>>): ValuesInput {
  const result = structuredClone(values) as Record<string, unknown>
  for (const [key, value] of Object.entries(settings)) {
    const path = key.split('.')
    const section = path.slice(0, -1).reduce((at, name) => (at[name] ??= {}) as Record<string, unknown>, result)
    section[path.at(-1) ?? ''] = value
  }
  return result
}

/** The value at a key, or undefined. */
export function settingOf(values: ValuesInput, key: string): unknown {
  return key.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], values)
}
