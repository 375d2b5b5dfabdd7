/**
 * The values of notifications: who is told what became of commits. Pure.
 */
import * as v from 'valibot'
import { noticeKinds, receiverTypes } from '../../runtime/settings.ts'
import { namespace, notificationReceiver, objectName } from './fields.ts'

export const notificationValues = v.optional(
  v.pipe(
    v.array(
      v.strictObject({
        name: notificationReceiver,
        type: v.picklist(receiverTypes),
        secretName: objectName,
        events: v.optional(v.array(v.picklist(noticeKinds))),
        namespaces: v.optional(v.array(namespace)),
      }),
    ),
    v.description(
      "Receivers {name, type: webhook|slack|msteams, secretName, events, namespaces}; the Secret of the release's namespace has the key address, for a webhook also hmac-key, and where need be ca.crt.",
    ),
  ),
  [],
)
