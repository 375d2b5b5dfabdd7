/**
 * Translates the error output of git, curl and ssh into a reason and a message for the owner of the GatewaySync. The messages are our own: text of a
 * git host is never passed on, because a URL may point to any server. Pure; faults.component.slow.test.ts runs the real programs.
 */
import { Fault } from '../../platform/fault.ts'
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import { printable } from '../../api/values.ts'
import { redactUrls } from '../../platform/log/redact.ts'
import { bodyOf, type GitTarget, hostOf, remotePatterns, type ErrorPattern } from './error-patterns.ts'
import type { HttpAnswer } from './http-trace.ts'
import { retryAfterToMs } from '../../http/headers.ts'
import { refusalsOfVolume } from './volume-fault.ts'

/** Lines are cut to this length before matching, so that no text makes a pattern slow. */
const maxLineLength = 400
const maxLines = 400

/**
 * Returns a fault for any text: GitFailed if no pattern matches. `command` is the git command, such as `fetch`; `target` undefined: no git host;
 * `answer`: what it answered over HTTP.
 */
export function faultOf(errors: string, command: string, target: GitTarget | undefined, answer?: HttpAnswer): Fault {
  const lines = linesOf(errors, target?.url)
  const patterns = target === undefined ? localPatterns : [...localPatterns, ...remotePatterns]
  for (const { pattern, reason, message, byHost, byUs } of patterns) {
    for (const line of lines) {
      if (line.startsWith('remote:') && byHost !== true && (byUs === true || target?.url.protocol !== 'ssh')) continue
      // Over ssh a shell of the host also writes to this output.
      if (byUs === true && target?.url.protocol === 'ssh' && !/^(?:fatal|error|warning): /.test(line)) continue
      const found = pattern.exec(line)
      if (found !== null) return new Fault(reason, message(target ?? noTarget, found, answer), pauseOf(answer))
    }
  }
  return new Fault('GitFailed', `git ${command}: ${unexplained(lines, target)}`)
}

/** GitUnreachable, for a host whose successful answer is not git's smart protocol. */
export function notGit(target: GitTarget, answer: HttpAnswer): Fault {
  const cause = 'whether spec.git.repo is the clone URL, and whether a proxy, login page or maintenance page answers for the host'
  const message = `${hostOf(target)} answers with status ${answer.status} and ${bodyOf(answer)} instead of git; check ${cause}`
  return new Fault('GitUnreachable', message, pauseOf(answer))
}

/** The wait that a host requests when it refuses a call. */
function pauseOf(answer: HttpAnswer | undefined): { retryAfterMs?: number } {
  const wait = retryAfterToMs(answer?.retryAfter, answer?.date)
  return wait === undefined ? {} : { retryAfterMs: wait }
}

function linesOf(errors: string, url: RepositoryUrl | undefined): string[] {
  // Replaces the URL first: it is user input, and must not match a pattern.
  const message = url === undefined ? errors : errors.replaceAll(url.text, 'URL').replaceAll(pathOf(url), 'PATH')
  return message
    .split('\n', maxLines)
    .map((line) => line.trim().slice(0, maxLineLength))
    .filter(Boolean)
}

function pathOf({ text }: RepositoryUrl): string {
  return text.replace(/^[a-z]+:\/\/[^/]*\//, '').replace(/^[^/@]*@[^/:]*:/, '') || text
}

/** One line by git itself. A host reached over ssh may write anything there, so messages contain none of those lines. */
function unexplained(lines: readonly string[], target: GitTarget | undefined): string {
  if (target?.url.protocol === 'ssh') return 'the git host closed the connection without a reason that ssh reports'
  const own = lines.filter((line) => !line.startsWith('remote:') && !line.includes('remote error'))
  const telling = own.find((line) => /^(?:fatal|error):/.test(line)) ?? own[0] ?? 'no message'
  return redactUrls(printable(telling), 300)
}

const noTarget: GitTarget = {
  url: { text: '', protocol: 'file', user: undefined, host: '', port: undefined },
  access: { identity: '', texts: [], credentials: { kind: 'none' }, caBundle: undefined, proxy: undefined },
  proxy: undefined,
}

/**
 * Tried before the table of error-patterns.ts. Failures of this machine's installation or of the repository itself, whether or not a git
 * host is involved.
 */
const localPatterns: readonly ErrorPattern[] = [
  // Failures of the machine take precedence: git and its helpers then also report errors of each other, the host and the repository.
  ...refusalsOfVolume.map(({ pattern, message }): ErrorPattern => ({
    pattern,
    reason: 'SourceVolumeFull',
    message: () => message,
    byUs: true,
  })),
  {
    pattern:
      /^env: '?([A-Za-z-]{1,30})'?: (?:No such file|Permission denied)|^sh: .*\b(git): (?:not found|(?:cannot execute: )?Permission denied)/,
    reason: 'ToolMissing',
    message: (_target, [, first, second]) => `${first ?? second ?? 'a program'} is not installed or cannot be run`,
  },
  {
    pattern: /cannot run ssh|ssh: (?:command )?not found/,
    reason: 'ToolMissing',
    message: () => 'ssh is not installed or cannot be run',
  },
  {
    pattern: /'remote-https?' is not a git command|Unable to find remote helper for 'https?'/,
    reason: 'ToolMissing',
    message: () => 'git-remote-https is not installed; git lacks HTTPS support',
  },
  {
    pattern: /No user exists for uid/,
    reason: 'ToolMissing',
    message: () => 'this user ID has no passwd entry, which ssh needs; install libnss_wrapper or give the user an entry in /etc/passwd',
  },
  {
    pattern: /^error: unknown option `([a-z-]{1,40})/,
    reason: 'ToolMissing',
    message: (_target, [, option]) => `this git is too old: it does not support --${option}`,
  },
  {
    pattern: /died of signal 9\b/,
    reason: 'GitKilled',
    message: () => 'a helper process of git was killed, probably because memory ran out',
    byUs: true,
  },
  {
    pattern: /Too many open files/i,
    reason: 'GitKilled',
    message: () => 'git could not open more files; raise the limit on open files (ulimit -n)',
    byUs: true,
  },
  {
    // Checked after the pattern for a missing program. A thread that cannot be created may be one that does not fit into git's own memory
    // limit.
    pattern:
      /cannot fork|unable to fork|getaddrinfo\(\) thread failed to start|^(?!.*unable to create thread).*Resource temporarily unavailable/i,
    reason: 'GitKilled',
    message: () => 'git could not start a helper process: this machine lacks memory, or permits no more processes (ulimit -u, pids.max)',
    byUs: true,
  },
  {
    // The second is JGit's, as Gerrit and Gitblit answer with every protocol.
    pattern: /unadvertised object|want [0-9a-f]{40,64} not valid/,
    reason: 'CommitNotServed',
    message: () => 'the git host serves branches and tags, but not commits by hash',
  },
  {
    // A tag may point to anything.
    pattern: /couldn't find remote ref|no matching remote head|not our ref|no such ref was fetched|did not match any|expected commit type/i,
    reason: 'RefNotFound',
    message: () => 'the git host has no such branch, tag or commit',
  },
  {
    // A mirror in the host's format is then created in place of this one.
    pattern: /mismatched algorithms|does not support this repository's object format/,
    reason: 'GitFailed',
    message: () => 'the git host has another object format (SHA-1 or SHA-256) than the mirror',
  },
  {
    // Before the patterns of errors that damaged files cause.
    pattern: /is corrupt|loose object .* \(stored in|unable to read tree|bad object|bad shallow line|reference broken/i,
    reason: 'GitFailed',
    message: ({ url }) =>
      url.protocol === 'file' && url.text !== ''
        ? 'a file of the repository on this machine is damaged; git fsck in the repository names it'
        : 'a file of the mirror on this machine is damaged; the mirror is fetched again',
  },
  {
    pattern: /File too large/i,
    reason: 'RepositoryTooLarge',
    message: () => 'a pack of this repository is larger than the volume for mirrors permits (source.storage.sizeLimit)',
  },
  {
    pattern: /unable to create thread/i,
    reason: 'GitOutOfMemory',
    message: () =>
      'git could not start a thread: a file or pack of this repository needs more memory than git may use, or this machine permits no more threads (ulimit -u, pids.max)',
  },
  {
    pattern: /out of memory|cannot allocate memory/i,
    reason: 'GitOutOfMemory',
    message: () => 'a file or pack of this repository needs more memory than git may use',
  },
]
