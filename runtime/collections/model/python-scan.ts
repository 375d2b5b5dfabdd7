/**
 * Whether a script can be Python 2.7, as far as its brackets, texts, blocks and characters tell: what an unfinished edit, a lost line or a
 * merge leaves behind. Nothing that a gateway can run is told of; much that it cannot run is not either. Takes linear time. Pure.
 */

/** `problem` completes a sentence: "<file> …". Lines count from 1. */
export type ScriptFault = { line: number; problem: string }

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }
/** Statements that begin a block. */
const opensBlock = /^(?:if|elif|else|for|while|try|except|finally|with|def|class)\b/
/** Deeper brackets and blocks are not followed. */
const maxDepth = 500

type Scan = {
  text: string
  at: number
  line: number
  /** The brackets that are open, each with its line. */
  open: { mark: string; line: number }[]
  indents: number[]
  /** The statement before ended with a colon. */
  wantsBlock: boolean
  fault: ScriptFault | undefined
}

/** The first fault of a script in UTF-8, with or without a byte order mark; undefined: none that would be found without running it. */
export function scriptFault(content: Uint8Array): ScriptFault | undefined {
  const text = Buffer.from(content.buffer, content.byteOffset, content.length).toString('latin1')
  const start = text.startsWith('\u00EF\u00BB\u00BF') ? 3 : 0
  const scan: Scan = { text, at: start, line: 1, open: [], indents: [0], wantsBlock: false, fault: undefined }
  while (scan.at < text.length && scan.fault === undefined) statement(scan)
  const unclosed = scan.open.at(-1)
  if (scan.fault === undefined && unclosed !== undefined) fail(scan, `has a ${unclosed.mark} that is never closed`, unclosed.line)
  if (scan.wantsBlock) fail(scan, 'ends where an indented block was expected')
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
  const isBlock = opensBlock.test(scan.text.slice(scan.at, scan.at + 8))
  let [last, hasColon] = ['', false]
  while (scan.at < scan.text.length && scan.fault === undefined) {
    const mark = scan.text[scan.at] ?? ''
    if (mark === '\n' || mark === '\r') {
      newLine(scan)
      if (scan.open.length === 0) break
    } else if (mark === '#') toEndOfLine(scan)
    else if (mark === '\\') continueLine(scan)
    else if (mark === '"' || mark === "'") {
      quoted(scan, mark)
      last = mark
    } else {
      if (scan.open.length === 0 && mark === ':') hasColon = true
      if (mark !== ' ' && mark !== '\t' && mark !== '\f') last = mark
      plain(scan, mark)
    }
  }
  if (isBlock && !hasColon && scan.open.length === 0) fail(scan, 'has no colon after the head of a block', line)
  scan.wantsBlock = last === ':'
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
    if (indents.length < maxDepth) indents.push(indent)
  } else if (indent > current) fail(scan, 'is indented without a reason')
  else {
    while (indent < (indents.at(-1) ?? 0)) indents.pop()
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
