/**
 * Takes secrets out of text that is told to somebody: the user part of URLs. Passes over the text once, whoever wrote it. Pure.
 */

const mark = '***'

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
