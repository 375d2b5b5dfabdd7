/**
 * Builds the Prometheus query about one gateway and interprets the answer. Pure.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { CheckAnswer } from '../../api/check-record.ts'
import type { PrometheusCheck } from '../../api/schema/spec.ts'

/** One question. `about` identifies the question, commit and configuration; `values` replace the names in the query. */
export type CheckQuestion = { pod: string; about: string; url: string; query: string; values: Readonly<Record<string, string>> }

type CheckSubject = { pod: string; name: string; namespace: string; commit: string; configuration: string }

/** Excludes characters that could end the string in the query. */
const harmless = /^[^"'`\\\p{Cc}]*$/u

/** Returns the question about one gateway; undefined if its name cannot be part of a query. */
export function questionOf(
  { query, url }: PrometheusCheck,
  { pod, name, namespace, commit, configuration }: CheckSubject,
): CheckQuestion | undefined {
  if (!harmless.test(name)) return undefined
  const values = { 'gateway.name': name, 'gateway.pod': pod, namespace, commit }
  const about = createHash('sha256')
    .update(JSON.stringify([configuration, url, query, values]))
    .digest('base64')
  return { pod, about, url, query, values }
}

/** Returns the query with the values of its gateway. It is built only to be sent: it may be long, and there is one for each gateway. */
export function filledQuery({ query, values }: Pick<CheckQuestion, 'query' | 'values'>): string {
  return query.replaceAll(/\{\{ ?([a-z.]+) ?\}\}/g, (written, key: string) => values[key] ?? written)
}

const sample = v.tuple([v.number(), v.string()])
const instantAnswer = v.object({
  status: v.literal('success'),
  data: v.variant('resultType', [
    v.object({ resultType: v.literal('vector'), result: v.array(v.object({ value: v.optional(sample) })) }),
    v.object({ resultType: v.literal('scalar'), result: sample }),
  ]),
})

/** Healthy means that every sample of the result is a number other than 0. The answer is untrusted and never repeated. */
export function answerOfPrometheus(status: number, body: unknown): CheckAnswer {
  if (status !== 200) return { kind: 'none', why: `Prometheus answered ${status}` }
  const parsed = v.safeParse(instantAnswer, body)
  if (!parsed.success) return { kind: 'none', why: 'the response is not a Prometheus vector or scalar of at most 64 KiB' }
  const { data } = parsed.output
  const values = (data.resultType === 'scalar' ? [data.result] : data.result.map(({ value }) => value)).map((one) =>
    Number(one?.[1].replace('Inf', 'Infinity')),
  )
  if (values.length === 0) return { kind: 'wrong', why: 'the query has no result' }
  const bad = values.filter((value) => Number.isNaN(value) || value === 0).length
  return bad === 0 ? { kind: 'right' } : { kind: 'wrong', why: `${bad} of ${values.length} samples are 0 or NaN` }
}
