/**
 * Which addresses may be connected to for a GatewaySync: its git host, proxy or API. A tenant writes the URL, so it must lead neither to the
 * controller itself nor to its cloud's metadata service. A name is looked up once and exactly the addresses found are connected to, so that
 * it cannot mean another address a moment later (DNS rebinding).
 */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { deadline, unlessAborted } from '../../clock.ts'
import { Fault } from '../../fault.ts'
import { printable } from '../../gatewaysync/values.ts'

/** The permitted addresses of a host, at least one. Throws RepositoryNotAllowed, GitHostUnknown. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly string[]>

/** What an installation permits; networks in CIDR form. */
export type AddressOptions = {
  /** Whether private networks are permitted, where the git hosts of most plants are. */
  allowPrivate: boolean
  /** Addresses and networks that are permitted in any case, even loopback. */
  allowed: readonly string[]
  /** Addresses that are refused unless `allowed` names them: the API server's. */
  refused: readonly string[]
}

/** This machine, link-local addresses with the metadata services of clouds, and what is not the address of a single host. */
const neverHosts = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
  // The metadata service of AWS and of Alibaba Cloud at addresses of their own.
  'fd00:ec2::/32',
  '100.100.100.200/32',
]

const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7']

const lookupTimeoutMs = 10_000

/**
 * Looks a host name up, within 10 s, and returns the addresses that the installation permits, as text. Throws GitHostUnknown, and
 * RepositoryNotAllowed when none is permitted.
 */
export function createResolveHost(options: AddressOptions): ResolveHost {
  const permits = createPermits(options)
  return async (host, signal) => {
    const found = isIP(host) === 0 ? await lookUp(host, signal) : [host]
    const permitted = found.filter(permits)
    if (permitted.length > 0) return permitted
    throw new Fault(
      'RepositoryNotAllowed',
      `"${printable(host)}" has an address that this installation does not permit (source.allowedAddresses)`,
    )
  }
}

/** Whether an address may be connected to. Pure. */
export function createPermits({ allowPrivate, allowed, refused }: AddressOptions): (address: string) => boolean {
  const permitted = blockListOf(allowed)
  const forbidden = blockListOf([...neverHosts, ...refused, ...(allowPrivate ? [] : privateNetworks)])
  const includes = (list: BlockList, address: string): boolean => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return (address) => {
    const plain = embeddedIPv4(address) ?? address
    return includes(permitted, plain) || !includes(forbidden, plain)
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

/** The IPv4 address that an IPv6 address stands for: mapped, or translated by the well-known prefix of NAT64. */
function embeddedIPv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined
  const [head, tail] = expanded(address)
  if (head !== '0:0:0:0:0:ffff' && head !== '64:ff9b:0:0:0:0' && head !== '0:0:0:0:0:0') return undefined
  const [high = 0, low = 0] = tail.split(':').map((group) => Number.parseInt(group, 16))
  // :: and ::1 embed no IPv4 address.
  return head === '0:0:0:0:0:0' && high === 0 ? undefined : [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The first six and the last two groups, each without leading zeros. */
function expanded(address: string): [string, string] {
  const host = new URL(`http://[${address.replace(/%.*$/, '')}]/`).hostname.slice(1, -1)
  const [before = '', after] = host.split('::')
  const left = before === '' ? [] : before.split(':')
  const right = after === undefined || after === '' ? [] : after.split(':')
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right]
  return [groups.slice(0, 6).join(':'), groups.slice(6).join(':')]
}

async function lookUp(host: string, signal: AbortSignal): Promise<string[]> {
  try {
    // The system's resolver cannot be cancelled; we only stop waiting for it.
    const found = await unlessAborted(lookup(host, { all: true, order: 'ipv4first' }), deadline(lookupTimeoutMs, signal))
    return found.map(({ address }) => address)
  } catch (error) {
    signal.throwIfAborted()
    throw new Fault('GitHostUnknown', `no address is known for "${printable(host)}"`, { cause: error })
  }
}
