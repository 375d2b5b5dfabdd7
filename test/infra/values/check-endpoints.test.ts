/**
 * Values of the webhook receiver, the status page and their ingresses that cannot be installed are refused with the key and the fix.
 */
import { host, ingress, objectName, refuses } from '../../support/refused-values.ts'

const cluster = { name: 'north', kubeconfig: { secretRef: { name: 'north' } } }
const network = 'must be an IP address, or a network such as 10.0.0.0/8'

refuses({
  'a certificate without hosts': [ingress({ tls: [{ secretName: 'page' }] }), 'webhookReceiver.ingress.tls.0.hosts: is missing'],
  'an unknown path type': [
    ingress({ hosts: [{ ...host, paths: [{ path: '/', pathType: 'prefix' }] }] }),
    'webhookReceiver.ingress.hosts.0.paths.0.pathType: must be Prefix, Exact or ImplementationSpecific, not "prefix"',
  ],
  'a relative path': [
    ingress({ hosts: [{ ...host, paths: [{ path: 'webhook', pathType: 'Prefix' }] }] }),
    'webhookReceiver.ingress.hosts.0.paths.0.path: must begin with /',
  ],
  'an ingress host without paths': [
    ingress({ hosts: [{ ...host, paths: [] }] }),
    'webhookReceiver.ingress.hosts.0.paths: a host needs at least one path, such as {path: /, pathType: Prefix}',
  ],
  'an ingress host with a scheme': [
    ingress({ hosts: [{ ...host, host: 'https://push.example.com' }] }),
    'webhookReceiver.ingress.hosts.0.host: must be a host name in lower case, without a scheme or port',
  ],
  'an address as ingress host': [
    ingress({ hosts: [{ ...host, host: '10.0.0.1' }] }),
    'webhookReceiver.ingress.hosts.0.host: must be a host name, not an IP address',
  ],
  'a status page that is off behind an Ingress': [
    { statusPage: { ingress: { enabled: true, hosts: [host] } } },
    'statusPage.enabled: must be true when statusPage.ingress.enabled is true',
  ],
  'a proxy of the status page without a secret': [
    { statusPage: { enabled: true, proxy: { enabled: true } } },
    'statusPage.proxy.secretRef.name: required when statusPage.proxy.enabled is true; without the secret anyone could forge the user headers',
  ],
  'a proxy of a status page that is off': [
    { statusPage: { proxy: { enabled: true, secretRef: { name: 'page' } } } },
    'statusPage.enabled: must be true when statusPage.proxy.enabled is true',
  ],
  'a header that is none': [
    { statusPage: { proxy: { userHeader: 'X User' } } },
    'statusPage.proxy.userHeader: must be the name of a header: letters, digits and "-"',
  ],
  'two logins of the status page': [
    {
      statusPage: {
        enabled: true,
        proxy: { enabled: true, secretRef: { name: 'page' } },
        oidc: { enabled: true, issuer: 'https://login.example.com', clientID: 'page', secretRef: { name: 'login' } },
      },
    },
    'statusPage.oidc.enabled: cannot be combined with statusPage.proxy.enabled\n' +
      'statusPage.oidc.externalURL: required when statusPage.oidc.enabled is true',
  ],
  'a provider over http': [
    { statusPage: { oidc: { issuer: 'http://login.example.com' } } },
    'statusPage.oidc.issuer: must be a URL that begins with https://, without "?" or "#"',
  ],
  'a page below a path': [
    { statusPage: { oidc: { externalURL: 'https://gateways.example.com/page' } } },
    'statusPage.oidc.externalURL: must be https:// and a host, optionally with a port, without a path',
  ],
  'a session for ever': [
    { statusPage: { oidc: { sessionLifetime: '100h' } } },
    'statusPage.oidc.sessionLifetime: must be minutes or hours such as 30m or 8h, at most 99h',
  ],
  'the same port for the status page': [
    { statusPage: { enabled: true, port: 9445 } },
    'statusPage.port: port 9445 is already used by delivery.port',
  ],
  'an ingress without hosts': [
    ingress({ hosts: [] }),
    'webhookReceiver.ingress.hosts: required when webhookReceiver.ingress.enabled is true',
  ],
  'an ingress without a receiver': [
    { webhookReceiver: { ingress: { enabled: true, hosts: [host] } } },
    'webhookReceiver.enabled: must be true when webhookReceiver.ingress.enabled is true',
  ],
  'an ingress host twice': [ingress({ hosts: [host, host] }), 'webhookReceiver.ingress.hosts.1.host: push.example.com is listed twice'],
  'an ingress path twice': [
    ingress({ hosts: [{ paths: [...host.paths, ...host.paths] }] }),
    'webhookReceiver.ingress.hosts.0.paths.1.path: / is listed twice',
  ],
  'other clusters on a page without a login, one twice': [
    { statusPage: { enabled: true, clusters: [cluster, cluster] } },
    'statusPage.clusters: needs a login (statusPage.oidc or statusPage.proxy); without one, anyone who can reach the page would see every cluster\n' +
      'statusPage.clusters.1.name: north is listed twice',
  ],
  'other clusters without a page': [
    { statusPage: { proxy: { secretRef: { name: 'page' } }, clusters: [cluster] } },
    'statusPage.enabled: must be true when statusPage.clusters is set\n' +
      'statusPage.clusters: needs a login (statusPage.oidc or statusPage.proxy); without one, anyone who can reach the page would see every cluster',
  ],
  'a list that is too long': [
    { statusPage: { clusters: Array.from({ length: 21 }, () => cluster) } },
    'statusPage.clusters: must be at most 20 items long, not 21',
  ],
  'another cluster whose URL is a path': [
    { statusPage: { clusters: [{ ...cluster, url: '/north' }] } },
    'statusPage.clusters.0.url: must be an http or https URL without white space',
  ],
  'a Secret that cannot be': [
    { webhookReceiver: { hmac: { secretRef: { name: 'My Secret' } } } },
    `webhookReceiver.hmac.secretRef.name: ${objectName}`,
  ],
  'a proxy by its name': [{ webhookReceiver: { trustedProxies: ['10.0.0.0/8', 'proxy'] } }, `webhookReceiver.trustedProxies.1: ${network}`],
  'a proxy of the status page by its name': [{ statusPage: { trustedProxies: ['proxy'] } }, `statusPage.trustedProxies.0: ${network}`],
  'an ingress path that leaves its folder': [
    ingress({ hosts: [{ ...host, paths: [{ path: '/push/../x', pathType: 'Exact' }] }] }),
    'webhookReceiver.ingress.hosts.0.paths.0.path: must not contain empty segments, ".", ".." or %2F, unless pathType is ImplementationSpecific',
  ],
  "the status page at a port that a pod of the host's network may not listen at": [
    { hostNetwork: true, statusPage: { enabled: true, port: 443 } },
    'statusPage.port: port 443 is below 1024; with hostNetwork, such ports require root',
  ],
  'a token that no header carries': [
    { webhookReceiver: { token: { secret: 'my token' } } },
    'webhookReceiver.token.secret: must contain only visible ASCII characters, without spaces',
  ],
})
