/**
 * Who calls, for limits and shares: the remote address, or what proxies that are trusted say of it. Pure.
 */
import type { Context } from 'hono'
import { BlockList, isIP } from 'node:net'
import { Fault } from '../fault.ts'

/** Proxies as addresses or `address/prefix`. */
export type Peers = {
  /** `forwarded`: the value of X-Forwarded-For, which anybody can write. */
  of(remote: string | undefined, forwarded: string | undefined): string
}

/** Throws InvalidConfiguration with the entry that is no address. */
export function createPeers(trustedProxies: readonly string[]): Peers {
  const trusted = new BlockList()
  for (const proxy of trustedProxies) trust(trusted, proxy)
  const isTrusted = (address: string): boolean => trusted.check(address, familyOf(address))
  return {
    of(remote, forwarded) {
      const address = plain(remote ?? '')
      if (isIP(address) === 0) return 'unknown'
      if (!isTrusted(address)) return bucketOf(address)
      // Each proxy adds at the end whom it saw: the last that is no proxy of ours is the first that somebody trusted has seen.
      const hops = (forwarded ?? '').split(',').map(plain).toReversed()
      const caller = hops.find((hop) => isIP(hop) === 0 || !isTrusted(hop))
      return bucketOf(caller !== undefined && isIP(caller) > 0 ? caller : address)
    },
  }
}

/** The address at the other end of a call's connection; undefined where there is none, as in a test that calls the app itself. */
export function remoteOf(context: Context): string | undefined {
  const { incoming } = (context.env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } }
  return incoming?.socket?.remoteAddress
}

/** The peer behind an address, where there are no proxies. */
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

/** One household or machine has a whole /64 of IPv6. */
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

/** IPv4 as IPv4, also where a socket of both families reports it. */
function plain(address: string): string {
  return address.trim().replace(/^::ffff:(?=\d+\.)/i, '')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
