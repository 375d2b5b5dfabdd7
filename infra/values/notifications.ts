/**
 * The values of notifications: the receivers and the events that they get. Pure.
 */
import * as v from 'valibot'
import { noticeKinds, receiverTypes } from '../../runtime/settings/controller.ts'
import { namespace, notificationReceiver, objectName } from './fields.ts'

export const notificationValues = v.optional(
  v.pipe(
    v.array(
      v.strictObject({
        name: notificationReceiver,
        type: v.picklist(receiverTypes),
        secretRef: v.strictObject({ name: objectName }),
        events: v.optional(v.array(v.picklist(noticeKinds))),
        namespaces: v.optional(v.array(namespace)),
      }),
    ),
    v.description(
      `Receivers {name, type: webhook|slack|msteams, secretRef: {name}, events, namespaces}. The events are ${noticeKinds.join(', ')}; without the key, all except NotReady are sent. Without namespaces, events of all are sent. The Secret in the namespace of the release has the key address, for a webhook also hmac-key, and optionally ca.crt.`,
    ),
  ),
  [],
)
