/**
 * Translates what git, curl and ssh write on standard error into a reason and words for the owner of the GatewaySync. The words are our own:
 * the text of a git host is never passed on, for a URL may lead to any server. Pure; faults.component.test.ts tries the real programs.
 */
import { Fault } from '../../fault.ts'
import type { RepositoryUrl } from '../../gatewaysync/schema/repository-url.ts'
import { printable } from '../../gatewaysync/values.ts'
import { redactUrls } from '../../redact.ts'
import { localMeanings } from './local-meanings.ts'
import { type GitTarget, remoteMeanings } from './meanings.ts'

/** Patterns are tried on lines cut to this length, so that no text makes one of them slow. */
const maxLineLength = 400
const maxLines = 400

/** Returns a fault for any text: GitFailed when nothing in it is known. `command` is git's, such as `fetch`; `asked` undefined: no git host. */
export function faultOf(errors: string, command: string, asked: GitTarget | undefined): Fault {
  const lines = linesOf(errors, asked?.url)
  const meanings = asked === undefined ? localMeanings : [...localMeanings, ...remoteMeanings]
  for (const { pattern, reason, words, byHost, byUs } of meanings) {
    for (const line of lines) {
      if (line.startsWith('remote:') && byHost !== true && (byUs === true || asked?.url.protocol !== 'ssh')) continue
      // Over ssh a shell of the host writes there too.
      if (byUs === true && asked?.url.protocol === 'ssh' && !/^(?:fatal|error|warning): /.test(line)) continue
      const found = pattern.exec(line)
      if (found !== null) return new Fault(reason, words(asked ?? noTarget, found))
    }
  }
  return new Fault('GitFailed', `git ${command}: ${unexplained(lines, asked)}`)
}

function linesOf(errors: string, url: RepositoryUrl | undefined): string[] {
  // The URL is the user's own text: words in it say nothing about what went wrong.
  const said = url === undefined ? errors : errors.replaceAll(url.text, 'URL').replaceAll(pathOf(url), 'PATH')
  return said
    .split('\n', maxLines)
    .map((line) => line.trim().slice(0, maxLineLength))
    .filter(Boolean)
}

function pathOf({ text }: RepositoryUrl): string {
  return text.replace(/^[a-z]+:\/\/[^/]*\//, '').replace(/^[^/@]*@[^/:]*:/, '') || text
}

/** One line by git itself. A host reached over ssh may write anything there, so none of those lines gets into a message. */
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
