/**
 * Redacts secrets in text, and detects what may be one. Linear time on untrusted text. Pure.
 */

const mark = '***'

const secretName = 'password|passwd|passphrase|secret|token|api_?key|private_?key|ciphertext|encrypted_key'
const secretKey = new RegExp(secretName, 'i')
/** A member of JSON or YAML, an argument of a call, or an XML element, with a name that suggests a secret value. */
const secretMember = new RegExp(`(?:${secretName})\\w{0,64}["']?\\s{0,8}[:=>]`, 'i')
const secretText = /(?:password|passwd|secret|token|api_?key)=/i

/** Replaces a value that may be secret. */
export const hiddenValue = '(hidden)'

/** Whether the value of a key of that name may be secret. */
export function isSecretKey(key: string): boolean {
  return secretKey.test(key)
}

/** Whether a line of any text may hold a secret: what `carriesSecret` finds, and a member, argument or element with such a name. */
export function mayHoldSecret(line: string): boolean {
  return secretMember.test(line) || carriesSecret(line)
}

/** Whether a text carries a secret within it: the user part of a URL, or `password=…` as in connection strings. */
export function carriesSecret(text: string): boolean {
  return secretText.test(text) || redactUrls(text) !== text
}

/**
 * Redacts the user part of every URL in a text, for any scheme: `https://user:secret@host` becomes `https://***@host`. Text after `max`
 * characters is cut off before; a possible user part at the cut is removed too, because its end is unknown.
 */
export function redactUrls(text: string, max: number = Infinity): string {
  const isCut = text.length > max
  const shown = isCut ? text.slice(0, max).toWellFormed() : text
  const parts: string[] = []
  let from = 0
  let word: Word = { end: 0, lastAt: -1 }
  for (let found = shown.indexOf('://'); found >= 0; found = shown.indexOf('://', Math.max(found + 1, from))) {
    const start = found + 3
    if (start >= word.end) word = wordAt(shown, start)
    const end = userEnd(shown, start, word, isCut && word.end === shown.length)
    if (end <= start) continue
    parts.push(shown.slice(from, start), mark)
    from = end
  }
  parts.push(shown.slice(from), isCut ? '…' : '')
  return parts.join('')
}

/** Text up to the next white space: its end, and the position of its last `@`. */
type Word = { end: number; lastAt: number }

function wordAt(text: string, start: number): Word {
  let lastAt = -1
  let end = start
  for (; end < text.length && !isSpace(text.charCodeAt(end)); end += 1) if (text.charCodeAt(end) === atSign) lastAt = end
  return { end, lastAt }
}

/**
 * Returns where the user part that may begin at `start` ends; `start` without one. The end of a truncated word is unknown. A password with
 * an unencoded slash is not a user part for git, but still a secret.
 */
function userEnd(text: string, start: number, word: Word, isCut: boolean): number {
  let lastAt = -1
  let port = -1
  let isHost = true
  let end = start
  for (; end < word.end && !isDelimiter(text.charCodeAt(end)); end += 1) {
    const code = text.charCodeAt(end)
    if (code === atSign) {
      lastAt = end
      port = -1
      isHost = true
    } else if (code === colon) port = end
    else if (port >= 0 && !isDigit(code)) isHost = text.charCodeAt(lastAt < start ? start : lastAt + 1) === openBracket
  }
  if (isCut && (end === word.end || !isHost)) return word.end
  return isHost ? lastAt : Math.max(lastAt, word.lastAt)
}

const [atSign, colon, openBracket] = [0x40, 0x3a, 0x5b]

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** `/`, `?` and `#` end the part of a URL that names user and host. */
function isDelimiter(code: number): boolean {
  return code === 0x2f || code === 0x3f || code === 0x23
}

function isSpace(code: number): boolean {
  return code <= 0x20 || code === 0x7f || code === 0xa0 || code === 0x2028 || code === 0x2029
}
