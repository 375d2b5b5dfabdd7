/**
 * The values of the status page. Pure.
 */
import * as v from 'valibot'
import {
  dataKey,
  flag,
  header,
  issuerAddress,
  oauthScopes,
  optionalObjectName,
  originAddress,
  port,
  requiredText,
  sessionDuration,
  text,
} from './fields.ts'
import { ingressValues } from './ingress.ts'
import { serviceValues } from './workload.ts'

export const statusPageValues = v.optional(
  v.strictObject({
    enabled: flag(
      'Serves a page with what runs on each gateway. Without statusPage.oidc or statusPage.proxy whoever reaches it sees all of it.',
      false,
    ),
    port: port('Port of the status page, which serves HTTPS.', 8444),
    service: v.optional(v.strictObject(serviceValues('status page')), {}),
    ingress: ingressValues('status page'),
    proxy: v.optional(
      v.strictObject({
        enabled: flag(
          'Shows people only namespaces whose GatewaySyncs they may list, by the word of a proxy with a login, and nothing to anybody else.',
          false,
        ),
        secretRef: v.optional(
          v.strictObject({
            name: optionalObjectName(
              'Name of an existing Secret with at least 16 characters, which the proxy sends in the header X-Cluster-Sync-Proxy-Secret.',
            ),
            key: dataKey('Key inside that Secret.', 'proxy-secret'),
          }),
          {},
        ),
        userHeader: header('Header in which the proxy names who asks.', 'X-Forwarded-User'),
        groupsHeader: header('Header in which it names their groups, separated by commas.', 'X-Forwarded-Groups'),
        userPrefix: text('What stands before names in role bindings, as --oidc-username-prefix of the API server.', ''),
        groupsPrefix: text('What stands before groups there, as --oidc-groups-prefix.', ''),
      }),
      {},
    ),
    oidc: v.optional(
      v.strictObject({
        enabled: flag(
          'Has people log in by OpenID Connect and shows them only namespaces whose GatewaySyncs they may list; in place of statusPage.proxy.',
          false,
        ),
        issuer: issuerAddress('The identity provider, as its tokens name it, such as https://login.example.com/realms/plant.'),
        clientId: text('As what the provider knows the page.', ''),
        secretRef: v.optional(
          v.strictObject({
            name: optionalObjectName(
              'Name of an existing Secret: client-secret, and if need be session-key (seals sessions) and ca.crt (who signs the provider’s certificate).',
            ),
          }),
          {},
        ),
        externalURL: originAddress(
          'Where people reach the page, such as https://gateways.example.com; the provider has to know /login/callback below it.',
        ),
        scopes: oauthScopes('What the provider is asked for besides openid.', ['profile', 'email']),
        usernameClaim: requiredText('The claim that names who it is, as --oidc-username-claim of the API server.', 'sub'),
        groupsClaim: requiredText('The claim with their groups, as --oidc-groups-claim.', 'groups'),
        usernamePrefix: text('What stands before names in role bindings, as --oidc-username-prefix.', ''),
        groupsPrefix: text('What stands before groups there, as --oidc-groups-prefix.', ''),
        sessionLifetime: sessionDuration('How long somebody stays logged in.', '8h'),
      }),
      {},
    ),
  }),
  {},
)
