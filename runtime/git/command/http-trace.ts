/**
 * Separates the HTTP trace of git from its error output, to determine how the git host responded. git itself takes any short page for an
 * empty repository.
 */
import { StringDecoder } from 'node:string_decoder'

/** How the host answered git's latest request for refs or for a pack. */
export type HttpAnswer = {
  status: number
  /** In lower case, without parameters; undefined if missing or malformed. */
  contentType: string | undefined
  /** The unparsed header of that name (RFC 9110, 10.2.3). */
  retryAfter: string | undefined
  /** The unparsed header of that name (RFC 9110, 6.6.1). */
  date: string | undefined
}

/** Environment of git: prints the headers of requests and responses, without secrets, to its error output. */
export const httpTrace = { GIT_TRACE_BARE: '1', GIT_TRACE_CURL: '1', GIT_TRACE_CURL_NO_DATA: '1', GIT_TRACE_REDACT: '1' } as const

/** Error output is kept up to this limit; the trace does not count. */
export const maxErrorBytes = 64 * 1024
/** Longer lines of the trace are cut. */
const maxLine = 2_000
const advertisement = /^application\/x-git-(?:upload|receive)-pack-advertisement$/

/** The error output of one git call. */
export class ErrorOutput {
  readonly #decoder = new StringDecoder('utf8')
  #line = ''
  #text = ''
  /** Whether the following headers answer a request for refs or for a pack, and not for example one of a proxy. */
  #isAnswer = false
  #answer: HttpAnswer | undefined
  #isGit = false

  add(chunk: Buffer): void {
    const [first = '', ...rest] = this.#decoder.write(chunk).split('\n')
    this.#grow(first)
    for (const next of rest) {
      this.#end('\n')
      this.#grow(next)
    }
  }

  /** The error output without the trace. */
  get text(): string {
    return isTrace(this.#line) ? this.#text : this.#text + this.#line
  }

  /** Undefined if no request was answered, or if git prints an unknown trace format. */
  get answer(): HttpAnswer | undefined {
    return this.#answer
  }

  /** Whether a successful answer was not that of a git host's smart protocol. */
  get isNotGit(): boolean {
    return !this.#isGit && this.#answer !== undefined && this.#answer.status >= 200 && this.#answer.status < 300
  }

  #grow(part: string): void {
    const room = (isTrace(this.#line + part) ? maxLine : maxErrorBytes) - this.#line.length
    if (room > 0) this.#line += part.slice(0, room)
  }

  #end(lineEnd: string): void {
    const line = this.#line
    this.#line = ''
    if (isTrace(line)) this.#read(line)
    else if (this.#text.length < maxErrorBytes) this.#text += line + lineEnd
  }

  #read(line: string): void {
    const [, method, target = ''] = /^=> Send header: ([A-Z]+) (\S+)/.exec(line) ?? []
    if (method !== undefined) this.#isAnswer = method === 'POST' || target.includes('/info/refs?service=')
    const [, name = '', value = ''] = /^<= Recv header: ([^ :]+):? *(.*?)\r?$/.exec(line) ?? []
    if (!this.#isAnswer || name === '') return
    if (name.startsWith('HTTP/')) {
      this.#answer = { status: Number.parseInt(value, 10), contentType: undefined, retryAfter: undefined, date: undefined }
    } else if (this.#answer !== undefined) this.#header(this.#answer, name.toLowerCase(), value)
  }

  #header(answer: HttpAnswer, name: string, value: string): void {
    if (name === 'retry-after') answer.retryAfter = value
    if (name === 'date') answer.date = value
    if (name !== 'content-type') return
    const [contentType] = /^[a-z0-9.+-]{1,40}\/[a-z0-9.+-]{1,60}/.exec(value.toLowerCase()) ?? []
    answer.contentType = contentType
    if (contentType !== undefined && advertisement.test(contentType)) this.#isGit = true
  }
}

function isTrace(line: string): boolean {
  return /^(?:==|=>|<=) /.test(line)
}
