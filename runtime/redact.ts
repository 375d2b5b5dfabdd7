/**
 * Takes secrets out of text that is told to somebody, and tells what may be one. Passes over the text once, whoever wrote it. Pure.
 */

const mark = '***'

const secretName = 'password|passwd|passphrase|secret|token|api_?key|private_?key|ciphertext|encrypted_key'
const secretKey = new RegExp(secretName, 'i')
/** A member of JSON or YAML, an argument of a call, or an element of XML, whose name says that its value is secret. */
const secretMember = new RegExp(`(?:${secretName})\\w{0,64}["']?\\s{0,8}[:=>]`, 'i')
const secretText = /(?:password|passwd|secret|token|api_?key)=/i

/** What stands in place of a value that may be secret. */
export const hiddenValue = '(hidden)'

/** Whether the value of a key of that name may be secret. */
export function isSecretKey(key: string): boolean {
  return secretKey.test(key)
}

/** Whether a line of any text may hold a secret: what `carriesSecret` finds, and a member, argument or element that is named like one. */
export function mayHoldSecret(line: string): boolean {
  return secretMember.test(line) || carriesSecret(line)
}

/** Whether a text carries a secret within it: a user part of a URL, or `password=…` as connection strings have it. */
export function carriesSecret(text: string): boolean {
  return secretText.test(text) || redactUrls(text) !== text
}

/**
 * Redacts the user part of every URL in a text, whatever its scheme: `https://user:secret@host` becomes `https://***@host`. Text after
 * `max` characters is cut off before; what may be a user part at the cut goes too, for its end is not known.
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

/** Text up to the next white space: its end, and where its last `@` is. */
type Word = { end: number; lastAt: number }

function wordAt(text: string, start: number): Word {
  let lastAt = -1
  let end = start
  for (; end < text.length && !isSpace(text.charCodeAt(end)); end += 1) if (text.charCodeAt(end) === atSign) lastAt = end
  return { end, lastAt }
}

/**
 * Where the user part ends that may begin at `start`; not beyond `start` where there is none. The end of a word that was cut is not known.
 * A password with a slash that nobody encoded is no user part to git, and no less of a secret.
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
