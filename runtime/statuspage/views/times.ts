/**
 * Renders times: the age, followed by the time for comparison with other logs. The script updates ages. Pure.
 */
import { html } from 'hono/html'
import { ageOf, instantOf } from '../../fleet/age.ts'
import { Temporal } from '../../platform/temporal.ts'

type Html = ReturnType<typeof html>

/** `say` formats the age, such as `3m ago`. Undefined for an invalid time. The script shows the local time. */
export function timed(at: string | undefined, now: Temporal.Instant, say: (age: string) => string): Html | undefined {
  const [instant, age] = [instantOf(at), ageOf(at, now)]
  if (instant === undefined || age === undefined) return undefined
  const when = instant.toString({ smallestUnit: 'second' })
  return html`<time datetime="${when}" title="${when.replace('T', ' ').replace('Z', ' UTC')}">${say(age)}</time>`
}

/** `say` formats the remaining time. Undefined once the time has passed; the script hides it from then on. */
export function left(until: Temporal.Instant | undefined, now: Temporal.Instant, say: (time: string) => string): Html | undefined {
  if (until === undefined || Temporal.Instant.compare(until, now) <= 0) return undefined
  return html`<time class="left" datetime="${until.toString()}">${say(ageOf(now.toString(), until) ?? '')}</time>`
}

/** The time of the shown state. The script uses it instead of the reader's clock, which may be wrong. */
export function asOf(at: Temporal.Instant, say: (time: string) => string): Html {
  const text = at.toString({ smallestUnit: 'second' }).replace('T', ' ').replace('Z', ' UTC')
  return html`<time id="as-of" class="quiet" datetime="${at.toString()}">${say(text)}</time>`
}

/** Joins the parts that exist in one line. */
export function joined(parts: readonly (string | Html | undefined)[], separator: string): Html {
  const there = parts.filter((part) => part !== undefined)
  return html`${there.map((part, index) => (index === 0 ? part : html`${separator}${part}`))}`
}
