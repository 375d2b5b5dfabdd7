/**
 * A pod whose deployment mode refers to thousands of variables, each with thousands of possible sources, within one admission request.
 */
import t from 'tap'
import { gateway, inject } from '../support/injected.ts'
import { chartPod } from '../support/pods.ts'

void t.test('few variables are copied to the agent, and the pod is injected with a warning', async (t) => {
  const names = Array.from({ length: 5_000 }, (_, index) => `V${index}`)
  const envFrom = names.map((name) => ({ secretRef: { name: name.toLowerCase() } }))
  const references = { name: 'DEPLOYMENT_MODE', value: names.map((name) => `$(${name})`).join('') }
  const pod = chartPod()
  for (const changes of [
    { args: [], env: [references], envFrom },
    { args: [], env: [references], envFrom: [] },
    { args: [], env: [references, ...names.map((name) => ({ name, value: `${name}${references.value}` }))], envFrom: [] },
    { args: [`-Dignition.config.mode=${references.value}`], env: [], envFrom: envFrom.slice(0, 3) },
  ]) {
    Object.assign(gateway(pod), changes)
    const { agent, warnings } = inject(pod)
    t.ok((agent.env ?? []).length < 150, `${agent.env?.length} variables`)
    t.strictSame(
      warnings.filter((warning) => /variables/.test(warning)),
      ["the gateway's deployment mode or data path needs more than 100 variables; only the first are copied to the agent"],
    )
  }
})

void t.test('a variable is copied from all its sources or from none', async (t) => {
  const pod = chartPod()
  const from = (sources: number): unknown[] => {
    const envFrom = Array.from({ length: sources }, (_, index) => ({ configMapRef: { name: `c${index}` } }))
    Object.assign(gateway(pod), { args: [], env: [], envFrom })
    return (inject(pod).agent.env ?? []).filter(({ name }) => name === 'CLUSTER_SYNC_MODE_ENVIRONMENT')
  }
  t.equal(from(99).length, 99)
  t.equal(from(100).length, 0)
})
