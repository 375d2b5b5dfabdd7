/**
 * The settings of the controller's process, which it reads from its environment. Pure.
 */
import type { ControllerSettingsInput } from '../../runtime/settings.ts'
import { ports } from '../../runtime/gatewaysync/names.ts'
import { certificateBy, servedNames } from './certificates.ts'
import { asText, either, equals, hasKey, isSet, or, text } from '../helm/combinators.ts'
import type { Live, Made, Value } from '../helm/expression.ts'
import { choose, each, field, given, unlessEmpty } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import { certificateFolder, keyFiles, loginFolder, notificationsFolder, receiverFolder, sourceFolder, statusPageFolder } from './volumes.ts'
import type { Values } from '../values.ts'

/** The settings of this installation, as the process reads them. */
export function settingsOf(names: Names, values: Live<Values>, version: Value<string>): Made<ControllerSettingsInput> {
  const { fullname, namespace, deliveryService } = names
  const { image, agentImage, agent, webhook, webhookReceiver: receiver, metrics, delivery, source, statusPage } = values
  const files = keyFiles(names, values).map(({ name, mounted }) => [
    `${name}File`,
    given<string>(mounted, `${receiverFolder}/${name}/value`),
  ])
  return {
    namespace,
    fullname,
    development: equals(values.controller.logDevMode, 'true'),
    logLevel: values.controller.logLevel,
    leaderElection: values.leaderElection.enabled,
    watchNamespaces: values.watchNamespaces,
    watchLabelSelector: values.controller.watchLabelSelector,
    ports: {
      receiver: receiver.port,
      admission: webhook.port,
      metrics: metrics.service.port,
      probes: ports.probes,
      delivery: delivery.port,
    },
    source: {
      folder: `${sourceFolder}/mirrors`,
      sizeLimit: source.storage.sizeLimit,
      allowedHosts: source.allowedHosts,
      allowPrivateAddresses: source.allowPrivateAddresses,
      allowedAddresses: source.allowedAddresses,
      proxy: unlessEmpty(source.proxy),
      noProxy: source.noProxy,
    },
    delivery: { url: text`https://${deliveryService}.${namespace}.svc:${asText(delivery.port)}` },
    certificates: certificateSettings(names, values),
    dnsNames: servedNames(names, values),
    injection: { enabled: webhook.enabled, webhookConfiguration: fullname },
    agent: {
      image: imageOf(agentImage, version),
      imagePullPolicy: image.pullPolicy,
      imagePullSecrets: values.imagePullSecrets,
      resources: agentResources(values),
      guaranteed: given(agent.guaranteed.enabled, { cpu: agent.guaranteed.cpu, memory: agent.guaranteed.memory }),
      securityContext: agent.securityContext,
      logLevel: agent.logLevel,
      allowImageOverride: agent.allowImageOverride,
      clusterRole: names.agentRole,
      autoBind: values.rbac.autoBindAgent.enabled,
    },
    receiver: { enabled: receiver.enabled, ...Object.fromEntries(files), trustedProxies: receiver.trustedProxies },
    notifications: each('notification', values.notifications, (receiver) => receiverOf(receiver)),
    metrics: { enabled: metrics.enabled },
    statusPage: given(statusPage.enabled, statusPageOf(statusPage)),
  }
}

function statusPageOf({ port, proxy, oidc }: Live<Values>['statusPage']): Made<NonNullable<ControllerSettingsInput['statusPage']>> {
  const { enabled, userHeader, groupsHeader, userPrefix, groupsPrefix } = proxy
  const secretFile = `${statusPageFolder}/value`
  const { issuer, clientId, externalURL, scopes, usernameClaim, groupsClaim, sessionLifetime } = oidc
  const { usernamePrefix, groupsPrefix: oidcGroupsPrefix } = oidc
  return {
    port,
    proxy: given(enabled, { secretFile, userHeader, groupsHeader, userPrefix, groupsPrefix }),
    oidc: given(oidc.enabled, {
      issuer,
      clientId,
      secretFolder: loginFolder,
      externalURL,
      scopes,
      usernameClaim,
      groupsClaim,
      usernamePrefix,
      groupsPrefix: oidcGroupsPrefix,
      sessionLifetime,
    }),
  }
}

/** A member that is not given is left to the process, which knows what is usual. */
function receiverOf(receiver: Value<Values['notifications'][number]>): Made<NonNullable<ControllerSettingsInput['notifications']>[number]> {
  const name = field(receiver, 'name')
  return {
    name,
    type: field(receiver, 'type'),
    folder: text`${notificationsFolder}/${name}`,
    events: given<unknown>(hasKey(receiver, 'events'), field(receiver, 'events')),
    namespaces: given<unknown>(hasKey(receiver, 'namespaces'), field(receiver, 'namespaces')),
  } as Made<NonNullable<ControllerSettingsInput['notifications']>[number]>
}

type Resources = Made<Record<string, Record<string, string>>>

/** The resources that the values give, without empty members, or the usual ones where the values give none at all. */
function agentResources({ agent: { resources } }: Live<Values>): Resources {
  const { requests, limits } = resources
  const told = { requests: unlessEmpty(requests), limits: unlessEmpty(limits) } as Resources
  return choose<Resources>(or(isSet(requests), isSet(limits)), told, usualAgentResources)
}

/** There is no CPU limit: measured under a limit of 200m, a first sync takes seven times as long. */
const usualAgentResources = {
  requests: { cpu: '10m', memory: '64Mi' },
  limits: { memory: '256Mi' },
}

function certificateSettings({ certificateSecret }: Names, values: Live<Values>): Made<ControllerSettingsInput['certificates']> {
  const { existing, selfManaged } = certificateBy(values)
  const mounted = { kind: 'mounted' as const, folder: certificateFolder, tellsWebhook: existing }
  return choose<Made<ControllerSettingsInput['certificates']>>(selfManaged, { kind: 'selfManaged', secretName: certificateSecret }, mounted)
}

/** An image with its tag, which is the version of this package unless the values name one. */
export function imageOf({ repository, tag }: { repository: Value<string>; tag: Value<string> }, version: Value<string>): Value<string> {
  return text`${repository}:${either(isSet(tag), tag, version)}`
}
