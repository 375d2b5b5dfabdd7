/**
 * The values of the status page. Pure.
 */
import * as v from 'valibot'
import { maxClusters } from '../../runtime/settings/controller.ts'
import { networks } from './address-fields.ts'
import {
  clusterName,
  clusterUrl,
  dataKey,
  flag,
  header,
  issuerAddress,
  objectName,
  oauthScopes,
  optionalObjectName,
  originAddress,
  port,
  requiredText,
  secretKey,
  sessionDuration,
  text,
} from './fields.ts'
import { ingressValues } from './ingress.ts'
import { serviceValues } from './workload.ts'

export const statusPageValues = v.optional(
  v.strictObject({
    enabled: flag(
      'Serves the status page. Without statusPage.oidc or statusPage.proxy, everyone who can reach it sees all namespaces.',
      false,
    ),
    port: port('Port of the status page, which serves HTTPS.', 8444),
    service: v.optional(v.strictObject(serviceValues('status page')), {}),
    trustedProxies: networks('Addresses or networks of proxies whose X-Forwarded-For header is trusted, such as those of the Ingress.'),
    ingress: ingressValues('status page'),
    proxy: v.optional(
      v.strictObject({
        enabled: flag(
          'Takes the user name and groups from the headers of an authenticating proxy. Users see only the namespaces whose GatewaySyncs they may list.',
          false,
        ),
        secretRef: v.optional(
          v.strictObject({
            name: optionalObjectName(
              "Name of an existing Secret. The proxy must send the content of this Secret's key, at least 16 characters, in the header X-Cluster-Sync-Proxy-Secret.",
            ),
            key: dataKey('Key inside that Secret.', 'proxy-secret'),
          }),
          {},
        ),
        userHeader: header('Header with the user name.', 'X-Forwarded-User'),
        groupsHeader: header('Header with the groups of the user, separated by commas.', 'X-Forwarded-Groups'),
        usernamePrefix: text('Prefix of user names in role bindings, like --oidc-username-prefix of the API server.', ''),
        groupsPrefix: text('Prefix of groups in role bindings, like --oidc-groups-prefix of the API server.', ''),
      }),
      {},
    ),
    clusters: v.optional(
      v.pipe(
        v.array(
          v.strictObject({
            name: clusterName,
            kubeconfig: v.strictObject({ secretRef: v.strictObject({ name: objectName, key: v.optional(secretKey) }) }),
            url: v.optional(clusterUrl),
          }),
        ),
        v.maxLength(maxClusters),
        v.description(
          'Other clusters: entries {name, kubeconfig: {secretRef: {name, key}}, url}. The page also shows their GatewaySyncs, to users who may list GatewaySyncs in all namespaces of this cluster. The Secret is in the namespace of the release; key defaults to kubeconfig. url is the address of the status page of that cluster. Requires statusPage.oidc or statusPage.proxy.',
        ),
      ),
      [],
    ),
    oidc: v.optional(
      v.strictObject({
        enabled: flag(
          'Requires login with OpenID Connect. Users see only the namespaces whose GatewaySyncs they may list. Cannot be combined with statusPage.proxy.',
          false,
        ),
        issuer: issuerAddress('Issuer URL of the identity provider, such as https://login.example.com/realms/plant.'),
        clientID: text('Client ID of the status page, as registered with the identity provider.', ''),
        secretRef: v.optional(
          v.strictObject({
            name: optionalObjectName(
              'Name of an existing Secret with client-secret, and optionally session-key (encrypts sessions) and ca.crt (CA of the identity provider).',
            ),
          }),
          {},
        ),
        externalURL: originAddress(
          'URL of the status page for users, such as https://gateways.example.com. Register the path /login/callback under this URL as a redirect URL with the identity provider.',
        ),
        scopes: oauthScopes('Scopes to request in addition to openid.', ['profile', 'email']),
        usernameClaim: requiredText('Claim with the user name, like --oidc-username-claim of the API server.', 'sub'),
        groupsClaim: requiredText('Claim with the groups, like --oidc-groups-claim of the API server.', 'groups'),
        usernamePrefix: text('Prefix of user names in role bindings, like --oidc-username-prefix of the API server.', ''),
        groupsPrefix: text('Prefix of groups in role bindings, like --oidc-groups-prefix of the API server.', ''),
        sessionLifetime: sessionDuration('Duration of a login session.', '8h'),
      }),
      {},
    ),
  }),
  {},
)
