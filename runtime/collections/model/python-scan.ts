/**
 * Whether a script can be Python 2.7, as far as its brackets, texts, blocks, words and characters tell: what an unfinished edit, a slip, a lost
 * line or a merge leaves behind. Nothing that a gateway can run is told of; much that it cannot run is not either. Takes linear time. Pure.
 */

/** `problem` completes a sentence: "<file> …". Lines count from 1. */
export type ScriptFault = { line: number; problem: string }

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
/** Statements that begin a block. */
const opensBlock = /^(?:if|elif|else|for|while|try|except|finally|with|def|class)\b/
/** What must stand in front of a statement that goes on with another one, at the same indentation. */
const goesOn: Readonly<Record<string, ReadonlySet<string>>> = {
  elif: new Set(['if', 'elif']),
  else: new Set(['if', 'elif', 'for', 'while', 'except']),
  except: new Set(['try', 'except']),
  finally: new Set(['try', 'except', 'else']),
}
/** Two words in a row are never right unless one of them is one of these. */
const keywords: ReadonlySet<string> = new Set(
  `and as assert break class continue def del elif else except exec finally for from global if import in is lambda not or pass print
  raise return try while with yield`.split(/\s+/),
)
/** A line that ends with one goes on nowhere. `*` ends an import of everything, and a period a number. */
const unfinished: ReadonlySet<string> = new Set('+-/%=<>&|^~')
/** After these words something has to follow. */
const asksForMore: ReadonlySet<string> = new Set(
  'and as assert class def del elif exec for from global if import in is not or while with'.split(' '),
)
const lonelyTry = 'has a try without except or finally'
const word = /[A-Za-z_]\w*/y
const number = /\d\w*/y
/** Deeper brackets and blocks are not followed. */
const maxDepth = 500

type Scan = {
  text: string
  at: number
  line: number
  /** The brackets that are open, each with its line. */
  open: { mark: string; line: number }[]
  indents: number[]
  /** Of the last statement at each of these indentations, what it begins with if it begins a block. */
  heads: string[]
  /** The statement before ended with a colon. */
  wantsBlock: boolean
  fault: ScriptFault | undefined
}

/** The first fault of a script in UTF-8, with or without a byte order mark; undefined: none that would be found without running it. */
export function scriptFault(content: Uint8Array): ScriptFault | undefined {
  const text = Buffer.from(content.buffer, content.byteOffset, content.length).toString('latin1')
  const start = text.startsWith('\u00EF\u00BB\u00BF') ? 3 : 0
  const scan: Scan = { text, at: start, line: 1, open: [], indents: [0], heads: [''], wantsBlock: false, fault: undefined }
  while (scan.at < text.length && scan.fault === undefined) statement(scan)
  const unclosed = scan.open.at(-1)
  if (scan.fault === undefined && unclosed !== undefined) fail(scan, `has a ${unclosed.mark} that is never closed`, unclosed.line)
  if (scan.wantsBlock) fail(scan, 'ends where an indented block was expected')
  else if (scan.heads.includes('try')) fail(scan, lonelyTry)
  return scan.fault
}

function fail(scan: Scan, problem: string, line = scan.line): void {
  scan.fault ??= { line, problem: `${problem}, in line ${line}` }
}

/** One line, with those that continue it. */
function statement(scan: Scan): void {
  const indent = indentation(scan)
  if (indent === undefined) return
  const line = scan.line
  place(scan, indent)
  const [head = ''] = opensBlock.exec(scan.text.slice(scan.at, scan.at + 8)) ?? []
  follow(scan, head)
  const isOnNextLine = scan.text[scan.at] === '\\'
  const isCondition = head === 'if' || head === 'elif' || head === 'while'
  let [last, hasColon] = ['', false]
  let before: string | undefined
  while (scan.at < scan.text.length && scan.fault === undefined) {
    const mark = scan.text[scan.at] ?? ''
    const name = taken(scan, word)
    if (name !== '') {
      // In front of a text they say how it is written.
      const isPrefix = scan.text[scan.at] === '"' || scan.text[scan.at] === "'"
      // Jython takes every word as the name of a member.
      const isMember = last === '.'
      if (!isPrefix && !isMember) besideEachOther(scan, before, name)
      ;[before, last] = [isPrefix || isMember ? undefined : name, name.slice(-1)]
    } else if (mark === '\n' || mark === '\r') {
      newLine(scan)
      if (scan.open.length === 0) break
    } else if (mark === '#') toEndOfLine(scan)
    else if (mark === '\\') continueLine(scan)
    else if (mark === '"' || mark === "'") {
      quoted(scan, mark)
      ;[before, last] = [undefined, mark]
    } else if (mark === ' ' || mark === '\t' || mark === '\f') scan.at += 1
    else {
      if (scan.open.length === 0 && mark === ':') hasColon = true
      misplacedMark(scan, mark, last, before)
      if (isCondition && !hasColon && scan.open.length === 0 && assigns(scan)) fail(scan, 'has = where == is meant')
      const digits = taken(scan, number)
      if (digits === '') plain(scan, mark)
      else besideEachOther(scan, before, digits)
      ;[before, last] = [undefined, mark]
    }
  }
  if (head !== '' && !hasColon && scan.open.length === 0) fail(scan, 'has no colon after the head of a block', line)
  if (unfinished.has(last) && scan.open.length === 0) fail(scan, `ends with ${last}, after which something is missing`, line)
  if (before !== undefined && asksForMore.has(before)) fail(scan, `ends with ${before}, after which something is missing`, line)
  if (head === '' && !isOnNextLine && last === ':') fail(scan, 'has a colon after what begins no block', line)
  scan.wantsBlock = last === ':'
}

/** Passes what a pattern matches here. */
function taken(scan: Scan, pattern: RegExp): string {
  pattern.lastIndex = scan.at
  const [found = ''] = pattern.exec(scan.text) ?? []
  scan.at += found.length
  return found
}

function besideEachOther(scan: Scan, before: string | undefined, now: string): void {
  if (before === undefined || keywords.has(before) || keywords.has(now)) return
  fail(scan, `has "${before.slice(0, 40)} ${now.slice(0, 40)}": two words in a row, of which none is a keyword`)
}

/** What stands in front of `mark` asks for something else. */
function misplacedMark(scan: Scan, mark: string, last: string, before: string | undefined): void {
  const { text, at } = scan
  const closes = mark === ')' || mark === ']' || mark === '}'
  if (closes && unfinished.has(last)) fail(scan, `has ${mark} after ${last}, where something is missing`)
  if (mark === ':' && before !== undefined && asksForMore.has(before)) fail(scan, `has a colon after ${before}, where something is missing`)
  if (mark === '=' && unfinished.has(last) && (text[at - 1] === ' ' || text[at - 1] === '\t')) fail(scan, `has = after ${last}`)
}

/** Whether a single equals sign stands here. */
function assigns({ text, at }: Scan): boolean {
  return text[at] === '=' && text[at + 1] !== '=' && !'=!<>+-*/%&|^'.includes(text[at - 1] ?? ' ')
}

/** Whether a statement may follow the one in front of it. */
function follow(scan: Scan, head: string): void {
  const { heads } = scan
  const before = heads.at(-1) ?? ''
  if (heads.length >= maxDepth) return
  if (before === 'try' && head !== 'except' && head !== 'finally') fail(scan, lonelyTry)
  if (goesOn[head]?.has(before) === false)
    fail(scan, `has ${head === 'else' || head === 'elif' ? 'an' : 'a'} ${head} that belongs to nothing`)
  heads[heads.length - 1] = head
}

/** The width of what a line begins with; undefined for a line that holds nothing, which is then passed. */
function indentation(scan: Scan): number | undefined {
  let width = 0
  for (; scan.at < scan.text.length; scan.at += 1) {
    const mark = scan.text[scan.at]
    if (mark === ' ') width += 1
    else if (mark === '\t') width = (Math.floor(width / 8) + 1) * 8
    else if (mark === '\f') width = 0
    else break
  }
  const mark = scan.text[scan.at]
  if (mark === '#') toEndOfLine(scan)
  else if (mark !== undefined && mark !== '\n' && mark !== '\r') return width
  newLine(scan)
  return undefined
}

function place(scan: Scan, indent: number): void {
  const { indents, wantsBlock } = scan
  const current = indents.at(-1) ?? 0
  if (wantsBlock) {
    if (indent <= current) fail(scan, 'lacks an indented block')
    if (indents.length < maxDepth) {
      indents.push(indent)
      scan.heads.push('')
    }
  } else if (indent > current) fail(scan, 'is indented without a reason')
  else {
    while (indent < (indents.at(-1) ?? 0)) {
      indents.pop()
      if (scan.heads.pop() === 'try') fail(scan, lonelyTry)
    }
    if (indent !== indents.at(-1) && indents.length < maxDepth) fail(scan, 'is indented like no block around it')
  }
  scan.wantsBlock = false
}

function newLine(scan: Scan): void {
  if (scan.text[scan.at] === '\r' && scan.text[scan.at + 1] === '\n') scan.at += 1
  scan.at += 1
  scan.line += 1
}

function toEndOfLine(scan: Scan): void {
  while (scan.at < scan.text.length && scan.text[scan.at] !== '\n' && scan.text[scan.at] !== '\r') scan.at += 1
}

function continueLine(scan: Scan): void {
  scan.at += 1
  const next = scan.text[scan.at]
  if (next === '\n' || next === '\r') newLine(scan)
  else if (next !== undefined) fail(scan, 'has a backslash that does not end its line')
}

function quoted(scan: Scan, mark: string): void {
  const { text } = scan
  const start = scan.line
  const isLong = text.startsWith(mark.repeat(3), scan.at)
  const end = isLong ? mark.repeat(3) : mark
  scan.at += end.length
  while (scan.at < text.length) {
    const now = text[scan.at]
    if (now === '\\') {
      scan.at += 1
      const next = text[scan.at]
      if (next === '\n' || next === '\r') newLine(scan)
      else scan.at += 1
    } else if (now === '\n' || now === '\r') {
      if (!isLong) break
      newLine(scan)
    } else if (text.startsWith(end, scan.at)) {
      scan.at += end.length
      return
    } else scan.at += 1
  }
  fail(scan, 'has a text that is never closed', start)
}

function plain(scan: Scan, mark: string): void {
  const { open } = scan
  scan.at += 1
  if (closing[mark] !== undefined) {
    if (open.length < maxDepth) open.push({ mark, line: scan.line })
    return
  }
  if (mark === ')' || mark === ']' || mark === '}') {
    const last = open.pop()
    if (last === undefined) fail(scan, `has a ${mark} that nothing opened`)
    else if (closing[last.mark] !== mark) fail(scan, `closes the ${last.mark} of line ${last.line} by a ${mark}`)
  } else if (mark === '$' || mark === '?' || (mark === '!' && scan.text[scan.at] !== '=') || mark > '~') {
    fail(scan, 'has a character outside of any text that Python does not know')
  }
}
