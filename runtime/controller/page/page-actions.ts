/**
 * What people do on the status page: whether they may, and the write in their name. The controller's account writes it, because nothing
 * impersonates anybody; so who it was stands in the annotation, in an Event and in the log.
 */
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import { type Clock, timestamp } from '../../clock.ts'
import { Fault } from '../../fault.ts'
import { apiVersion, gatewaySyncKind, pageFieldManager } from '../../gatewaysync/names.ts'
import type { EventRecorder } from '../../kube/events.ts'
import type { Log } from '../../log.ts'
import { type Action, changeOf } from '../../statuspage/actions/action.ts'
import { actionWordsIn, labelOf } from '../../statuspage/actions/action-words.ts'
import type { Doing, Person, SyncKey } from '../../statuspage/people.ts'
import { type ChangeDeps, changeSync } from '../cluster/change-sync.ts'
import type { PageAccess } from './page-access.ts'

export type PageActionDeps = ChangeDeps & {
  access: Pick<PageAccess, 'may' | 'mayNow'>
  formKeys: Doing['formKeys']
  events: Pick<EventRecorder, 'record'>
  clock: Clock
  log: Log
}

/** Acts of one person in a minute: more than somebody clicks, and fewer than the Events that are written for one object. */
const perMinute = 10
/** As many characters as the annotation may have. */
const maxBy = 128

/** Returns the `doing` of the status page. */
export function createPageActions({ access, formKeys, events, log, ...deps }: PageActionDeps): Doing {
  const pace = new RateLimiterMemory({ keyPrefix: '', points: perMinute, duration: 60 })
  return {
    may: access.may,
    formKeys,
    async act(person, sync, action) {
      await keepPace(pace, person)
      if (!(await access.mayNow(person, sync)))
        throw new Fault('Forbidden', `${person.name} may not patch gatewaysyncs in ${sync.namespace}`)
      const asking = { by: `status page: ${person.name}`.slice(0, maxBy), at: timestamp(deps.clock.now()), id: deps.clock.uuid() }
      const { uid } = await changeSync(deps, sync, (record) => changeOf(action, record, asking), pageFieldManager)
      const note = noteOf(person, action)
      log.info({ component: 'status-page', ...sync, requestId: asking.id, message: note }, 'somebody acted on the status page')
      events.record({ regarding: regarding(sync, uid), type: 'Normal', reason: 'RequestedOnPage', action: 'Request', note })
    },
  }
}

async function keepPace(pace: RateLimiterMemory, { name }: Person): Promise<void> {
  try {
    await pace.consume(name)
  } catch (passed) {
    if (!(passed instanceof RateLimiterRes)) throw passed
    throw new Fault('TooManyRequests', `${name} has done ${perMinute} things within a minute`, { cause: passed })
  }
}

function noteOf({ name }: Person, action: Action): string {
  return `${name} asked on the status page: ${labelOf(action, actionWordsIn('en'))}`
}

function regarding({ namespace, name }: SyncKey, uid: string) {
  return { apiVersion, kind: gatewaySyncKind.kind, namespace, name, uid }
}
