/**
 * Translates the error output of git, curl and ssh into a reason and a message for the owner of the GatewaySync. The messages are our own: text of a
 * git host is never passed on, because a URL may point to any server. Pure; faults.component.slow.test.ts runs the real programs.
 */
import { Fault } from '../../platform/fault.ts'
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import { printable } from '../../api/values.ts'
import { redactUrls } from '../../platform/log/redact.ts'
import { localPatterns } from './local-error-patterns.ts'
import { retryAfterToMs } from '../../http/retry-after.ts'
import { bodyOf, type GitTarget, hostOf, remotePatterns } from './error-patterns.ts'
import type { HttpAnswer } from './http-trace.ts'

/** Lines are cut to this length before matching, so that no text makes a pattern slow. */
const maxLineLength = 400
const maxLines = 400

/**
 * Returns a fault for any text: GitFailed if no pattern matches. `command` is the git command, such as `fetch`; `asked` undefined: no git host;
 * `answer`: what it answered over HTTP.
 */
export function faultOf(errors: string, command: string, asked: GitTarget | undefined, answer?: HttpAnswer): Fault {
  const lines = linesOf(errors, asked?.url)
  const patterns = asked === undefined ? localPatterns : [...localPatterns, ...remotePatterns]
  for (const { pattern, reason, words, byHost, byUs } of patterns) {
    for (const line of lines) {
      if (line.startsWith('remote:') && byHost !== true && (byUs === true || asked?.url.protocol !== 'ssh')) continue
      // Over ssh a shell of the host also writes to this output.
      if (byUs === true && asked?.url.protocol === 'ssh' && !/^(?:fatal|error|warning): /.test(line)) continue
      const found = pattern.exec(line)
      if (found !== null) return new Fault(reason, words(asked ?? noTarget, found, answer), pauseOf(answer))
    }
  }
  return new Fault('GitFailed', `git ${command}: ${unexplained(lines, asked)}`)
}

/** GitUnreachable, for a host whose successful answer is not git's smart protocol. */
export function notGit(asked: GitTarget, answer: HttpAnswer): Fault {
  const cause = 'whether spec.git.repo is the clone URL, and whether a proxy, login page or maintenance page answers for the host'
  const message = `${hostOf(asked)} answers with status ${answer.status} and ${bodyOf(answer)} instead of git; see ${cause}`
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
function unexplained(lines: readonly string[], asked: GitTarget | undefined): string {
  if (asked?.url.protocol === 'ssh') return 'the git host ended the connection for a reason that ssh does not name'
  const own = lines.filter((line) => !line.startsWith('remote:') && !line.includes('remote error'))
  const telling = own.find((line) => /^(?:fatal|error):/.test(line)) ?? own[0] ?? 'no message'
  return redactUrls(printable(telling), 300)
}

const noTarget: GitTarget = {
  url: { text: '', protocol: 'file', user: undefined, host: '', port: undefined },
  access: { identity: '', credentials: { kind: 'none' }, caBundle: undefined, proxy: undefined },
  proxy: undefined,
}
