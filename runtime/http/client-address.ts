/**
 * Determines the client address for limits: the remote address, or the one that trusted proxies report. Pure.
 */
import type { Context } from 'hono'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { Fault } from '../platform/fault.ts'

/** Identifies clients for limits: an IPv4 address, or the /64 of an IPv6 address. */
export type Peers = {
  /** `forwarded`: the untrusted value of X-Forwarded-For. */
  of(remote: string | undefined, forwarded: string | undefined): string
}

/** `trustedProxies`: addresses or `address/prefix`. Throws InvalidConfiguration naming an entry that is neither. */
export function createPeers(trustedProxies: readonly string[]): Peers {
  const trusted = new BlockList()
  for (const proxy of trustedProxies) trust(trusted, proxy)
  const isTrusted = (address: string): boolean => trusted.check(address, familyOf(address))
  return {
    of(remote, forwarded) {
      const address = plain(remote ?? '')
      if (isIP(address) === 0) return 'unknown'
      if (!isTrusted(address)) return bucketOf(address)
      // Each proxy appends the address that called it, so the last address that is not a trusted proxy is the caller.
      const hops = (forwarded ?? '').split(',').map(plain).toReversed()
      const caller = hops.find((hop) => isIP(hop) === 0 || !isTrusted(hop))
      return bucketOf(caller !== undefined && isIP(caller) > 0 ? caller : address)
    },
  }
}

/** Returns the remote address of a call's connection; undefined without one, as in a test that calls the app itself. */
export function remoteOf(context: Context): string | undefined {
  const { incoming } = (context.env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } }
  return incoming?.socket?.remoteAddress
}

/** Returns the client of a call. */
export function peerFrom(context: Context, peers: Peers): string {
  return peers.of(remoteOf(context), context.req.header('x-forwarded-for'))
}

/** Returns each value of a repeated header; fetch's Headers join several into one. Empty without a connection. */
export function headersOf(context: Context, name: string): readonly string[] {
  const { incoming } = (context.env ?? {}) as { incoming?: Pick<IncomingMessage, 'headersDistinct'> }
  return incoming?.headersDistinct[name.toLowerCase()] ?? []
}

/** Identifies a client that is not behind a proxy. */
export function peerOf(remote: string | undefined): string {
  const address = plain(remote ?? '')
  return isIP(address) === 0 ? 'unknown' : bucketOf(address)
}

function trust(list: BlockList, proxy: string): void {
  const [, address = '', prefix] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(proxy.trim()) ?? []
  const bits = isIP(address) === 6 ? 128 : 32
  if (isIP(address) === 0 || Number(prefix ?? 0) > bits) {
    throw new Fault('InvalidConfiguration', `trustedProxies: "${proxy}" is neither an IP address nor address/prefix`)
  }
  list.addSubnet(address, Number(prefix ?? bits), familyOf(address))
}

/** IPv6 is cut to its /64, which one household or machine has as a whole. */
function bucketOf(address: string): string {
  if (isIP(address) === 4) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length)
  return [...groups, ...Array.from({ length: missing }, () => '0'), ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

/** Writes an IPv4-mapped IPv6 address, as a dual-stack socket reports it, as plain IPv4. */
function plain(address: string): string {
  return address.trim().replace(/^::ffff:(?=\d+\.)/i, '')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
