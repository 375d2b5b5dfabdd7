/**
 * Pods whose annotation names their gateway with as many characters as are kept, compared with the globs of stages and repeated in the
 * query of a health check.
 */
import t from 'tap'
import * as v from 'valibot'
import { gatewayNameOf, podAnnotations } from '../../runtime/api/names.ts'
import { rolloutSpec } from '../../runtime/api/schema/rollout-spec.ts'
import { questionOf } from '../../runtime/reconcile/rollout/check-question.ts'
import { advance } from '../../runtime/reconcile/rollout/advance.ts'
import type { RolloutFacts } from '../../runtime/reconcile/rollout/facts.ts'
import { Temporal } from '../../runtime/platform/temporal.ts'
import { inject } from '../support/injected.ts'
import { chartPod } from '../support/pods.ts'

const annotations = { [podAnnotations.gatewayName]: 'ab'.repeat(512) }
const name = gatewayNameOf({ name: 'gw-0', annotations })

void t.test('the name is shortened, and whoever creates the pod is warned', async (t) => {
  const pod = chartPod()
  t.equal(name.length, 253)
  const { warnings } = inject({ ...pod, metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...annotations } } })
  t.strictSame(
    warnings.filter((warning) => /gateway-name/.test(warning)),
    ['annotation clustersync.io/gateway-name has 1024 characters; only the first 253 are used'],
  )
})

void t.test('a question that repeats the name is small until it is sent', async (t) => {
  const asked = { pod: 'gw-0', name, namespace: 'plant', commit: 'a'.repeat(40), configuration: 'v1-1' }
  const question = questionOf({ query: '{{gateway.name}}'.repeat(64), url: 'https://prometheus.example' }, asked)
  const { length } = JSON.stringify(question)
  t.ok(length < 2_048, `${length} bytes`)
})

void t.test('the stages of gateways are found once in each reconcile', async (t) => {
  let read = 0
  const gateway = {
    pod: 'gw-0',
    labels: {},
    progress: 'moving' as const,
    get name() {
      read += 1
      return name
    },
  }
  const stages = [{ name: 'first', selector: { names: ['*c'] } }, { name: 'rest' }]
  const version = { commit: 'a'.repeat(40), ref: 'main' }
  const facts = {
    spec: v.parse(rolloutSpec, { stages }),
    target: { version, configurations: {} },
    before: { commit: 'b'.repeat(40), ref: 'main' },
    gateways: [gateway],
    paused: false,
    now: Temporal.Instant.from('2026-01-01T00:00:00Z'),
  }
  advance(facts as unknown as RolloutFacts)
  t.equal(read, 1)
})
