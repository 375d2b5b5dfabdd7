/**
 * Resolves host names like the resolver of the system in a pod: from the hosts file, else from the name servers, with the search domains of
 * the resolver's configuration. `dns.lookup` would block a thread until the system's resolver gives up, and libuv has two threads for it:
 * two names whose name servers do not answer would delay the names of all namespaces.
 */
import { Resolver } from 'node:dns/promises'
import { existsSync, readFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'

/** The addresses of a name, IPv4 first, at least one. Throws an error for an unknown name, and the signal's reason. */
export type LookUp = (host: string, signal: AbortSignal) => Promise<string[]>

/** Where names come from. */
type Options = {
  /** Files in the form of hosts(5) and resolv.conf(5), read at each call: a pod's network may change them. */
  hostsFile?: string
  configurationFile?: string
  /** The name servers. Default: those of the system's configuration. */
  resolver?: () => Resolver
}

/** Together about 8 s. A lookup may take 10 s, and some name servers never answer a question for IPv6 addresses. */
const attempts = { timeout: 2_500, tries: 2 }
const defaultMinDots = 1
/** Answers after which the next domain is tried, as glibc does. Without an answer, the name might mean something else in the next domain. */
const elsewhere: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL'])

/** Uses no thread, and ends with the signal. */
export function createLookUp({
  hostsFile = '/etc/hosts',
  configurationFile = '/etc/resolv.conf',
  resolver = () => new Resolver(attempts),
}: Options = {}): LookUp {
  return async (host, signal) => {
    signal.throwIfAborted()
    const listed = addressesIn(linesOf(hostsFile), host)
    if (listed.length > 0) return listed
    const asked = resolver()
    const cancel = (): void => asked.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await firstKnown(asked, candidateNames(host, linesOf(configurationFile)), signal)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}

async function firstKnown(resolver: Resolver, names: readonly string[], signal: AbortSignal): Promise<string[]> {
  let failure: unknown
  for (const name of names) {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    signal.throwIfAborted()
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length > 0) return found
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as NodeJS.ErrnoException] : []))
    failure = failures.find(({ code }) => !elsewhere.has(code))
    if (failure !== undefined) break
    failure = failures[0]
  }
  throw failure ?? new Error('the name has no address')
}

/** The names to ask for, in order: one with few dots is first completed with the search domains. Pure. */
export function candidateNames(host: string, configuration: readonly (readonly string[])[]): string[] {
  if (host.endsWith('.')) return [host]
  const [, ...domains] = configuration.findLast(([keyword]) => keyword === 'search' || keyword === 'domain') ?? []
  const options = configuration.flatMap(([keyword, ...values]) => (keyword === 'options' ? values : []))
  const minDots = Number(/^ndots:([0-9]+)$/.exec(options.findLast((option) => option.startsWith('ndots:')) ?? '')?.[1] ?? defaultMinDots)
  const completed = domains.flatMap((domain) => (domain === '.' ? [] : [`${host}.${domain.replace(/\.$/, '')}.`]))
  const dots = host.split('.').length - 1
  return dots >= minDots ? [`${host}.`, ...completed] : [...completed, `${host}.`]
}

/** The addresses that a hosts file names. Pure. */
export function addressesIn(hosts: readonly (readonly string[])[], host: string): string[] {
  const name = host.toLowerCase().replace(/\.$/, '')
  const found = hosts.flatMap(([address = '', ...names]) => (names.some((one) => one.toLowerCase() === name) ? [address] : []))
  return found.toSorted((a, b) => Number(isIPv4(b)) - Number(isIPv4(a)))
}

/** The fields of each line, without comments. */
function linesOf(file: string): string[][] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  )
}
