/**
 * Defines the controller's settings: the one shape that the manifests write and the controller reads. Pure.
 */
import * as v from 'valibot'
import { labelSelector } from '../api/label-selector.ts'
import { ports } from '../api/names.ts'
import { amountOf, quantityPattern } from '../api/quantity.ts'
import { logLevels } from '../platform/log/level.ts'

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(2048))
const port = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535))

/** A Kubernetes quantity, which the values may hold as a number. */
const quantity = v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.regex(quantityPattern, 'must be a quantity such as 2Gi'))

/** A quantity in bytes. */
const bytes = v.pipe(
  quantity,
  v.transform((amount) => Math.floor(amountOf(amount))),
  v.minValue(1),
)

/** A certificate that the controller issues, renews and keeps in a Secret, or a mounted one (cert-manager's or the user's). */
const certificates = v.variant('kind', [
  v.strictObject({ kind: v.literal('selfManaged'), secretName: text }),
  v.strictObject({
    kind: v.literal('mounted'),
    folder: v.pipe(text, v.description('Holds tls.crt, tls.key and ca.crt.')),
    writesCaBundle: v.optional(
      v.pipe(v.boolean(), v.description("Whether the controller copies ca.crt to the webhook's caBundle; otherwise another tool does.")),
      false,
    ),
  }),
])

/** The formats of notification receivers. */
export const receiverTypes = ['webhook', 'slack', 'msteams'] as const
/** The events of a GatewaySync that a receiver can subscribe to. */
export const noticeKinds = ['Ready', 'NotReady', 'Refused', 'Failed'] as const

const receiver = v.strictObject({
  name: text,
  type: v.picklist(receiverTypes),
  folder: v.pipe(text, v.description('Its Secret, mounted: address, hmac-key, ca.crt.')),
  events: v.optional(v.array(v.picklist(noticeKinds)), ['Ready', 'Refused', 'Failed']),
  namespaces: v.optional(v.pipe(v.array(text), v.description('Empty: all.')), []),
})

export type Receiver = v.InferOutput<typeof receiver>
export type ReceiverType = Receiver['type']
export type NoticeKind = Receiver['events'][number]

/** Each other cluster on the page of a hub costs connections and memory. */
export const maxClusters = 20

/** A terminating endpoint disappears from all routing tables within some seconds; calls that arrive meanwhile must be answered. */
export const defaultShutdownDelaySeconds = 10
/** After that delay: time for running answers, for work in progress, and for the last Events. */
export const stopWithinSeconds = 12

/** The content of the settings file, which the manifests write (infra/constructs/controller-settings.ts). Unknown keys are rejected. */
export const controllerSettings = v.strictObject({
  namespace: v.pipe(text, v.description('Where the operator runs: its Lease, its certificate Secret.')),
  fullname: v.pipe(text, v.description('Prefix of the names of all objects of this installation.')),
  development: v.optional(v.pipe(v.boolean(), v.description('Log lines for a console instead of JSON, of every level.')), false),
  logLevel: v.optional(v.pipe(v.picklist(logLevels), v.description('Minimum level of log lines; ignored in development mode.')), 'info'),
  leaderElection: v.optional(v.boolean(), true),
  shutdownDelaySeconds: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(300),
      v.description(
        'Time for which every port is still served after SIGTERM, until all clients know that this replica is no longer ready.',
      ),
    ),
    defaultShutdownDelaySeconds,
  ),
  watchNamespaces: v.optional(v.pipe(v.array(text), v.description('Empty: all.')), []),
  watchLabelSelector: v.optional(
    v.pipe(labelSelector, v.description('GatewaySyncs with other labels are those of another installation.')),
    {},
  ),
  host: v.optional(v.pipe(text, v.description('Address that every listener binds to.')), '::'),
  ports: v.optional(
    v.strictObject({
      receiver: v.optional(port, ports.receiver),
      admission: v.optional(port, ports.admission),
      metrics: v.optional(port, ports.metrics),
      probes: v.optional(port, ports.probes),
      delivery: v.optional(port, ports.delivery),
    }),
    {},
  ),
  source: v.strictObject({
    folder: v.pipe(text, v.description('Where mirrors are kept; disk, not memory.')),
    sizeLimit: v.optional(bytes, '2Gi'),
    allowedHosts: v.optional(v.pipe(v.array(text), v.description('Empty: any.')), []),
    proxy: v.optional(v.pipe(text, v.description('Proxy to git hosts, http://host:port; no password.'))),
    noProxy: v.optional(v.pipe(v.string(), v.maxLength(4096), v.description('Hosts and networks without the proxy.')), ''),
    allowPrivateAddresses: v.optional(v.pipe(v.boolean(), v.description('Git hosts in private networks.')), true),
    allowedAddresses: v.optional(v.pipe(v.array(text), v.description('Addresses and networks that git hosts may always have.')), []),
    allowLocal: v.optional(v.pipe(v.boolean(), v.description('Accept file: repositories; tests only.')), false),
  }),
  delivery: v.strictObject({ url: v.pipe(text, v.description('Where agents reach delivery.')) }),
  certificates,
  dnsNames: v.pipe(v.array(text), v.description('Names of the Services that the certificate is for.')),
  injection: v.strictObject({
    enabled: v.boolean(),
    webhookConfiguration: v.pipe(
      text,
      v.description('The MutatingWebhookConfiguration whose caBundle the controller fills in, unless someone else does.'),
    ),
  }),
  agent: v.strictObject({
    image: text,
    imagePullPolicy: v.picklist(['Always', 'IfNotPresent', 'Never']),
    imagePullSecrets: v.optional(v.array(v.strictObject({ name: text })), []),
    resources: v.optional(v.record(v.string(), v.record(v.string(), quantity)), {}),
    guaranteed: v.optional(
      v.pipe(
        v.strictObject({ cpu: quantity, memory: quantity }),
        v.description('Requests and limits in a pod of the class Guaranteed; absent: resources as in every pod.'),
      ),
    ),
    securityContext: v.optional(
      v.pipe(
        v.record(v.string(), v.unknown()),
        v.description("Replaces the entire default, except for the user of the gateway's container."),
      ),
      {},
    ),
    logLevel: v.optional(v.picklist(logLevels), 'info'),
    allowImageOverride: v.optional(v.boolean(), false),
    clusterRole: v.pipe(text, v.description('What a gateway pod’s ServiceAccount is bound to.')),
    autoBind: v.optional(v.boolean(), true),
  }),
  receiver: v.strictObject({
    enabled: v.boolean(),
    hmacFile: v.optional(v.pipe(text, v.description('Mounted key of the global HMAC secret.'))),
    tokenFile: v.optional(v.pipe(text, v.description('Mounted key of the global bearer token.'))),
    trustedProxies: v.optional(v.array(text), []),
  }),
  notifications: v.optional(v.array(receiver), []),
  metrics: v.strictObject({ enabled: v.boolean() }),
  statusPage: v.optional(
    v.pipe(
      v.strictObject({
        port,
        trustedProxies: v.optional(v.array(text), []),
        proxy: v.optional(
          v.pipe(
            v.strictObject({
              secretFile: v.pipe(text, v.description('Mounted secret that authenticates the proxy.')),
              userHeader: text,
              groupsHeader: text,
              usernamePrefix: v.optional(v.string(), ''),
              groupsPrefix: v.optional(v.string(), ''),
            }),
            v.description('Takes the user from the headers of a proxy with a login.'),
          ),
        ),
        oidc: v.optional(
          v.pipe(
            v.strictObject({
              issuer: text,
              clientID: text,
              secretFolder: v.pipe(text, v.description('Mounted Secret: client-secret, session-key, ca.crt.')),
              externalURL: v.pipe(text, v.description('URL of the page for users, without a trailing slash.')),
              scopes: v.optional(v.array(text), ['profile', 'email']),
              usernameClaim: v.optional(text, 'sub'),
              groupsClaim: v.optional(text, 'groups'),
              usernamePrefix: v.optional(v.string(), ''),
              groupsPrefix: v.optional(v.string(), ''),
              sessionLifetime: v.pipe(
                v.string(),
                v.regex(/^[1-9][0-9]{0,2}[mh]$/),
                v.description('Duration of a login, in minutes or hours.'),
              ),
            }),
            v.description('Login with OpenID Connect. Without it and without a proxy, everyone sees everything.'),
          ),
        ),
        clusters: v.optional(
          v.pipe(
            v.array(
              v.strictObject({
                name: text,
                kubeconfigFile: v.pipe(text, v.description('Mounted key of a Secret.')),
                url: v.optional(v.pipe(text, v.description('Where its own status page is.'))),
              }),
            ),
            v.maxLength(maxClusters),
            v.description('Other clusters whose GatewaySyncs the page shows.'),
          ),
          [],
        ),
      }),
      v.description('Without it, the page shows nothing to anyone.'),
    ),
  ),
})

export type ControllerSettings = v.InferOutput<typeof controllerSettings>
export type ControllerSettingsInput = v.InferInput<typeof controllerSettings>

/** The environment variable that holds the settings as JSON: changing them changes the Deployment and so rolls it out. */
export const controllerSettingsVariable = 'CLUSTER_SYNC_SETTINGS'
