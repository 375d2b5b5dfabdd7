/**
 * Tests the Prometheus query of a gateway and how its answers are interpreted.
 */
import t from 'tap'
import * as v from 'valibot'
import { answerOfPrometheus, filledQuery, questionOf } from '../../../../runtime/reconcile/rollout/check-question.ts'
import { checkSettings } from '../../../../runtime/api/schema/check-spec.ts'
import { lacksText, matchObject } from '../../../support/assertions.ts'

const gateway = { pod: 'gw-0', name: 'line 1', namespace: 'plant', commit: 'a'.repeat(40), configuration: 'v1-1' }
const url = 'https://prometheus.example'
const vector = (...values: string[]) => ({
  status: 'success',
  data: { resultType: 'vector', result: values.map((value) => ({ metric: {}, value: [1_700_000_000.5, value] })) },
})

void t.test('a query template is filled with the values of each gateway', async (t) => {
  const query = 'rate(scans{gw="{{ gateway.name }}",pod="{{gateway.pod}}",ns="{{ namespace }}"}[5m]) > 0 or x{c="{{ commit }}"}'
  const asked = questionOf({ query, url }, gateway)
  t.equal(asked && filledQuery(asked), `rate(scans{gw="line 1",pod="gw-0",ns="plant"}[5m]) > 0 or x{c="${'a'.repeat(40)}"}`)
  const others = [
    { ...gateway, commit: 'b'.repeat(40) },
    { ...gateway, configuration: 'v1-2' },
    { ...gateway, name: 'line 2' },
  ]
  for (const other of others)
    t.not(questionOf({ query, url }, other)?.about, asked?.about, 'what was answered before says nothing about it')
  t.not(questionOf({ query, url: 'https://other.example' }, gateway)?.about, asked?.about)
})

void t.test('a gateway name cannot break out of the string that contains it', async (t) => {
  for (const name of ['x"} or vector(1) #', "x'", 'x`', 'x\\', 'x\ny']) {
    t.equal(questionOf({ query: 'up{gw="{{ gateway.name }}"}', url }, { ...gateway, name }), undefined, JSON.stringify(name))
  }
})

void t.test('a gateway is healthy while the query has a result and no sample is 0', async (t) => {
  t.strictSame(answerOfPrometheus(200, vector('1', '0.5', '-1', '+Inf')), { kind: 'right' })
  t.strictSame(answerOfPrometheus(200, { status: 'success', data: { resultType: 'scalar', result: [1, '2'] } }), { kind: 'right' })
  matchObject(t, answerOfPrometheus(200, vector()), { kind: 'wrong', why: 'the query has no result' })
  matchObject(t, answerOfPrometheus(200, vector('1', '0')), { kind: 'wrong', why: '1 of 2 samples are 0 or NaN' })
  matchObject(t, answerOfPrometheus(200, vector('NaN')), { kind: 'wrong' })
})

void t.test('a response that is not a query result is inconclusive, and its content is not repeated', async (t) => {
  const others: [number, unknown][] = [
    [400, { status: 'error', errorType: 'bad_data', error: 'secret' }],
    [302, undefined],
    [503, vector('1')],
    [200, undefined],
    [200, { status: 'error', error: 'secret' }],
    [200, { status: 'success', data: { resultType: 'matrix', result: [] } }],
    [200, { status: 'success', data: { resultType: 'vector', result: 'secret' } }],
  ]
  for (const [status, body] of others) {
    const answer = answerOfPrometheus(status, body)
    matchObject(t, answer, { kind: 'none' })
    lacksText(t, JSON.stringify(answer), 'secret')
  }
})

void t.test('a check needs a valid query, URL and template variables', async (t) => {
  const is = (check: unknown): boolean => v.safeParse(checkSettings, check).success
  const query = 'up == 1'
  t.ok(is({ prometheus: { query, url } }))
  t.ok(is({ prometheus: { query, url: 'http://prometheus.monitoring.svc:9090/base/path' }, http: { path: '/' } }))
  t.ok(is({ prometheus: { query, url: 'https://[fd00::1]:9090/' } }))
  t.ok(is({ prometheus: { query: 'a{x="{{ gateway.name }}"} > {{commit}}', url } }))
  t.notOk(is({}))
  for (const wrong of ['a{x="{{ gateway.nam }}"}', 'a{x="{{ secret }}"}', 'a{x="{{ gateway.name | upcase }}"}', '{% if %}{{', ''])
    t.notOk(is({ prometheus: { query: wrong, url } }), wrong)
  for (const wrong of ['ftp://a', 'a.example', 'https://user:word@a', 'https://a/?x=1', 'https://a/#b', 'https://a/../b', 'https://a b'])
    t.notOk(is({ prometheus: { query, url: wrong } }), wrong)
})
