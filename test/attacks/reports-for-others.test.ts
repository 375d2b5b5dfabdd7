/**
 * Tenant isolation: a tenant that may write reports could put any name and mode into one, and so suppress findings of the validation of
 * another tenant's commit.
 */
import t from 'tap'
import { matchObject } from '../support/assertions.ts'
import { config, resource, root, validTree } from '../support/collection-tree.ts'
import { validatedCommit } from '../support/validated-commit.ts'

const collections = { collections: { root } }
/** A singleton that exists only in dev: valid if a gateway runs in mode prod. */
const broken = { ...validTree(), ...resource('dev/ignition/cobranding', config({})) }

void t.test('a report counts only for the live pod that wrote it and the GatewaySync that the pod follows', async (t) => {
  const { validate, reports, passes } = validatedCommit(broken)
  reports('a-0', 'line', 'prod', { follows: 'other' })
  matchObject(t, await validate(collections), { kind: 'checked', errors: 1 }, 'the pod follows another GatewaySync')
  reports('a-1', 'line', 'prod', { uid: 'a pod that is gone' })
  matchObject(t, await validate(collections), { kind: 'checked', errors: 1 }, 'the report is of an earlier pod of that name')
  reports('a-2', 'line', 'prod')
  matchObject(t, await validate(collections), { kind: 'checked', errors: 1 }, 'the gateway of the made-up report may have any mode')
  passes(600_000)
  matchObject(t, await validate(collections), { kind: 'checked', errors: 0 }, 'it has reported none for ten minutes')
})
