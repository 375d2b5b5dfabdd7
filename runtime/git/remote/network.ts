/**
 * Determines how this process reaches git hosts: the proxy, and the addresses that may be connected to for a GatewaySync: its git host,
 * proxy or API. A tenant writes the URL, so it must lead neither to the controller itself nor to its cloud's metadata service. A name is
 * resolved once and only the resulting addresses are used, so that it cannot resolve to another address later (DNS rebinding).
 */
import { isIP, BlockList } from 'node:net'
import type { Proxies, Proxy } from './proxy.ts'
import ipaddr from 'ipaddr.js'
import { deadline } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { printable } from '../../api/values.ts'
import { createLookUp, type LookUp } from './dns.ts'

/** The same for all GatewaySyncs of a process. */
export type Network = {
  /** Resolves and checks the addresses that git then connects to; undefined: git resolves names itself and all are permitted. */
  resolve: ResolveHost | undefined
  /** For repositories whose GatewaySync names no proxy. */
  proxy: Proxies | undefined
}

/** No restriction and no proxy: for the terminal and for tests. */
export const openNetwork: Network = { resolve: undefined, proxy: undefined }

/**
 * The addresses to connect to: those of the proxy if there is one, which then resolves `host` itself. Undefined: not restricted. Throws
 * GitHostUnknown, and RepositoryNotAllowed, also when `host` is a forbidden address behind the proxy.
 */
export async function addressesOf(
  host: string,
  proxy: Pick<Proxy, 'host'> | undefined,
  { resolve }: Network,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (proxy !== undefined && isIP(host) !== 0) await resolve?.(host, signal)
  return await resolve?.(proxy?.host ?? host, signal)
}

const { IPv4, IPv6, isValid, parse } = ipaddr
type IPv4 = ipaddr.IPv4
type IPv6 = ipaddr.IPv6

/** The permitted addresses of a host, at least one. Throws RepositoryNotAllowed, GitHostUnknown. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly string[]>

/** What an installation permits; networks in CIDR form. */
type AddressOptions = {
  /** Whether private networks are permitted, where the git hosts of most plants are. */
  allowPrivate: boolean
  /** Addresses and networks that are permitted in any case, even loopback. */
  allowed: readonly string[]
  /** Addresses that are refused unless `allowed` names them: the API server's. */
  refused: readonly string[]
}

/**
 * Metadata and host services of clouds in ranges that a git host may have: Azure, Alibaba Cloud, AWS, Google Cloud, Oracle and Scaleway.
 */
const cloudServices = ['168.63.129.16', '100.100.100.200', 'fd00:ec2::/32', 'fd20:ce::/32', 'fd00:c1::/32', 'fd00:42::/32']

/** Names of ipaddr.js for the ranges of private networks. */
const privateRanges: ReadonlySet<string> = new Set(['private', 'carrierGradeNat', 'uniqueLocal', 'deprecatedSiteLocal'])
/** The network for benchmarks (RFC 2544) is in use inside plants like any private one. */
const benchmarkNetwork = '198.18.0.0/15'
/** The allocated range of global unicast addresses (RFC 4291); everything else is local, reserved or a translation of IPv4. */
const globalUnicast = '2000::/3'

const lookupTimeoutMs = 10_000

/**
 * Resolves a host name within 10 s, and returns the addresses that the installation permits, as text. Throws GitHostUnknown, and
 * RepositoryNotAllowed when none is permitted.
 */
export function createResolveHost(options: AddressOptions, lookUp = createLookUp()): ResolveHost {
  const permits = createPermits(options)
  return async (host, signal) => {
    const found = isIP(host) === 0 ? await resolvedAddresses(host, lookUp, signal) : [host]
    const permitted = found.filter(permits)
    if (permitted.length > 0) return permitted
    throw new Fault(
      'RepositoryNotAllowed',
      `"${printable(host)}" has an address that this installation does not permit (source.allowedAddresses)`,
    )
  }
}

/** Whether an address may be connected to: addresses that are neither public nor, if permitted, private are refused. Pure. */
export function createPermits({ allowPrivate, allowed, refused }: AddressOptions): (address: string) => boolean {
  const permitted = blockListOf(allowed)
  const forbidden = blockListOf([...cloudServices, ...refused])
  const otherPrivate = blockListOf([benchmarkNetwork])
  const allocated = blockListOf([globalUnicast])
  const includes = (list: BlockList, address: IPv4 | IPv6): boolean => list.check(address.toString(), address.kind())
  return (text) => {
    if (!isValid(text)) return false
    const address = withoutTranslation(parse(text))
    if (includes(permitted, address)) return true
    if (includes(forbidden, address)) return false
    if (privateRanges.has(address.range()) || includes(otherPrivate, address)) return allowPrivate
    return address.range() === 'unicast' && (address.kind() === 'ipv4' || includes(allocated, address))
  }
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/** `64:ff9b::/96`, the well-known prefix of NAT64 (RFC 6052). */
const nat64: [IPv6, number] = [IPv6.parse('64:ff9b::'), 96]

/** The IPv4 address that an IPv6 address maps or, behind a NAT64, is translated to; else the address itself. */
function withoutTranslation(address: IPv4 | IPv6): IPv4 | IPv6 {
  if (address instanceof IPv4) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return address.match(nat64) ? new IPv4(address.toByteArray().slice(-4)) : address
}

async function resolvedAddresses(host: string, lookUp: LookUp, signal: AbortSignal): Promise<string[]> {
  try {
    return await lookUp(host, deadline(lookupTimeoutMs, signal))
  } catch (error) {
    signal.throwIfAborted()
    throw new Fault('GitHostUnknown', `the host name "${printable(host)}" cannot be resolved`, { cause: error })
  }
}
