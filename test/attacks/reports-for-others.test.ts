/**
 * Tenants: who may write a report may write any name and mode into it, and so could switch off what the gate finds in another's commit.
 */
import t from 'tap'
import { config, resource, root, validTree } from '../support/collection-tree.ts'
import { judgedCommit } from '../support/judged-commit.ts'

const collections = { collections: { root } }
/** A singleton that exists only in dev: with a gateway in the mode prod it is no fault. */
const broken = { ...validTree(), ...resource('dev/ignition/cobranding', config({})) }

void t.test('a report counts only for the live pod that wrote it and for the GatewaySync which that pod follows', async (t) => {
  const { judge, reports, passes } = judgedCommit(broken)
  reports('a-0', 'line', 'prod', { follows: 'other' })
  t.match(await judge(collections), { kind: 'checked', errors: 1 }, 'the pod follows another GatewaySync')
  reports('a-1', 'line', 'prod', { uid: 'a pod that is gone' })
  t.match(await judge(collections), { kind: 'checked', errors: 1 }, 'the report is of an earlier pod of that name')
  reports('a-2', 'line', 'prod')
  t.match(await judge(collections), { kind: 'checked', errors: 1 }, 'the gateway of the made-up report may have any mode')
  passes(600_000)
  t.match(await judge(collections), { kind: 'checked', errors: 0 }, 'it has told none in ten minutes')
})
