/**
 * Schemas of values that are addresses: images, networks, git hosts, proxies. Pure.
 */
import * as v from 'valibot'

const imagePart = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*'
/** Host and port of a registry, if any, and the path there. Source: github.com/distribution/reference. */
const repositoryPattern = new RegExp(`^(?:(?:[A-Za-z0-9.-]+|\\[[0-9a-fA-F:]+\\])(?::[0-9]+)?/)?${imagePart}(?:/${imagePart})*$`)
const tagPattern = /^(?:[A-Za-z0-9_][-A-Za-z0-9_.]{0,127}(?:@[a-z0-9]+:[0-9a-f]{32,})?)?$/

/** An image without a tag or digest, optionally with a registry and its port. */
export const repository = (description: string, defaultValue: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(repositoryPattern, 'must be an image without a tag or digest, such as registry.example.com/team/name'),
      v.description(description),
    ),
    defaultValue,
  )
/** Empty: the version of this package. A digest may follow. */
export const tag = (description: string, defaultValue: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(tagPattern, 'must be empty or a tag such as 1.2.3, optionally with a digest (@sha256:…)'),
      v.description(description),
    ),
    defaultValue,
  )

/** Without zones and without regular expression flags: neither the controller nor JSON schema supports them. */
const ipv6 = v.IPV6_REGEX.source
  .slice(1, -1)
  .replaceAll('a-f', 'a-fA-F')
  .replaceAll('f{4}', '[fF]{4}')
  .replace(/\|fe80[^|]*/, '')
const ipv4 = v.IPV4_REGEX.source.slice(1, -1)
const networkPattern = new RegExp(`^(?:${ipv4}(?:/(?:3[0-2]|[12]?[0-9]))?|${ipv6}(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)$`)

/** Addresses, or networks in CIDR notation, of IPv4 and IPv6. */
export const networks = (description: string) =>
  v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.regex(networkPattern, 'must be an IP address, or a network such as 10.0.0.0/8'))),
      v.description(description),
    ),
    [],
  )

/** Must equal the host in the URL of a repository. */
const gitHostPattern = /^(?:[a-z0-9](?:[-a-z0-9_.]*[a-z0-9])?|\[[0-9a-f:.]+\])$/

/** Names or addresses of hosts, as in the URLs of repositories. */
export const gitHosts = (description: string) =>
  v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.regex(gitHostPattern, 'must be a host name in lower case, without a scheme, port or wildcard'))),
      v.description(description),
    ),
    [],
  )

const proxyPattern = /^(?:https?:\/\/(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9a-fA-F:]+\])(?::[1-9][0-9]{0,4})?\/?)?$/

/** Without a user or password, which belong in a Secret; empty: none. */
export const proxyUrl = (description: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.regex(proxyPattern, 'must be empty or http(s)://host:port without a user or password'),
      v.description(description),
    ),
    '',
  )
