/**
 * The values of notifications: receivers, and the events that are sent to them. Pure.
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
      `Receivers: entries {name, type: webhook|slack|msteams, secretRef: {name}, events, namespaces}. events: any of ${noticeKinds.join(', ')}; by default all except NotReady. namespaces: by default all. The Secret, in the namespace of the release, contains the keys address, hmac-key (for type webhook), and optionally ca.crt.`,
    ),
  ),
  [],
)
