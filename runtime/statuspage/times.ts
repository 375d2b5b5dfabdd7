/**
 * Times on a page: how long ago, and behind that when it was, to be held against another journal. The script lets ages go on. Pure.
 */
import { html } from 'hono/html'
import { ageOf, instantOf } from '../fleet/age.ts'

type Html = ReturnType<typeof html>

/** `say` puts the age into words, such as `3m ago`. Undefined for what is no time. The script of the page says when it was in the local time. */
export function timed(at: string | undefined, now: Temporal.Instant, say: (age: string) => string): Html | undefined {
  const [instant, age] = [instantOf(at), ageOf(at, now)]
  if (instant === undefined || age === undefined) return undefined
  const when = instant.toString({ smallestUnit: 'second' })
  return html`<time datetime="${when}" title="${when.replace('T', ' ').replace('Z', ' UTC')}">${say(age)}</time>`
}

/** `say` puts how long it is until then into words. Undefined where that is past; the script hides it from then on. */
export function left(until: Temporal.Instant | undefined, now: Temporal.Instant, say: (time: string) => string): Html | undefined {
  if (until === undefined || Temporal.Instant.compare(until, now) <= 0) return undefined
  return html`<time class="left" datetime="${until.toString()}">${say(ageOf(now.toString(), until) ?? '')}</time>`
}

/** The moment of which a page tells. The script takes the time from it, because the clock of whoever looks may be wrong. */
export function asOf(at: Temporal.Instant, say: (time: string) => string): Html {
  const text = at.toString({ smallestUnit: 'second' }).replace('T', ' ').replace('Z', ' UTC')
  return html`<time id="as-of" class="quiet" datetime="${at.toString()}">${say(text)}</time>`
}

/** What there is of some facts, in one line. */
export function joined(parts: readonly (string | Html | undefined)[], separator: string): Html {
  const there = parts.filter((part) => part !== undefined)
  return html`${there.map((part, index) => (index === 0 ? part : html`${separator}${part}`))}`
}
