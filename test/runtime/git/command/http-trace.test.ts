/**
 * Parsing the host's responses from the trace in git's error output.
 */
import fc from 'fast-check'
import t from 'tap'
import { ErrorOutput, maxErrorBytes } from '../../../../runtime/git/command/http-trace.ts'

const question = '=> Send header: GET /plant.git/info/refs?service=git-upload-pack HTTP/1.1\n'
const answered = (status: string, ...headers: string[]): string =>
  [`HTTP/1.1 ${status}`, ...headers].map((line) => `<= Recv header: ${line}\r\n`).join('')
const page = question + answered('200 OK', 'Content-Type: text/html', 'Retry-After: 9', 'Date: Fri, 27 Nov 2026 03:00:00 GMT')

function read(...chunks: string[]) {
  const output = new ErrorOutput()
  for (const chunk of chunks) output.add(Buffer.from(chunk))
  const { text, answer, isNotGit } = output
  return { text, answer, isNotGit }
}

void t.test('the response of the host is parsed, and that of a proxy is ignored', async (t) => {
  const html = { status: 200, contentType: 'text/html', retryAfter: '9', date: 'Fri, 27 Nov 2026 03:00:00 GMT' }
  const tunnel = `=> Send header: CONNECT git.example:443 HTTP/1.1\n${answered('200 Connection established')}`
  const git = question + answered('200 OK', 'Content-Type: application/x-git-upload-pack-advertisement')
  const busy = `=> Send header: POST /plant.git/git-upload-pack HTTP/1.1\n${answered('503 Busy', 'Retry-After: 5')}`
  const none = { text: '', answer: undefined, isNotGit: false }
  const rows: Record<string, [trace: string, expected: object]> = {
    'no answer': [question, none],
    'a page': [page, { text: '', answer: html, isNotGit: true }],
    'a page over HTTP/2': [
      '=> Send header: GET /plant.git/info/refs?service=git-upload-pack HTTP/2\n<= Recv header: HTTP/2 200\n<= Recv header: content-type: text/html\n',
      { text: '', answer: { ...html, retryAfter: undefined, date: undefined }, isNotGit: true },
    ],
    'a tunnel that leads nowhere': [`${tunnel}fatal: unable to access`, { ...none, text: 'fatal: unable to access' }],
    'a page behind a tunnel': [tunnel + page, { text: '', answer: html, isNotGit: true }],
    'a refusal of credentials, then a page': [question + answered('401 Unauthorized') + page, { text: '', answer: html, isNotGit: true }],
    'git, which is busy later': [
      git + busy,
      { text: '', answer: { status: 503, contentType: undefined, retryAfter: '5', date: undefined }, isNotGit: false },
    ],
    'git without a trace': ['fatal: <= Recv header: HTTP/1.1 200\n', { ...none, text: 'fatal: <= Recv header: HTTP/1.1 200\n' }],
  }
  for (const [name, [trace, expected]] of Object.entries(rows)) t.strictSame(read(trace), expected, name)
})

void t.test('the split of the output into chunks does not matter, and a long trace hides no error', async (t) => {
  const whole = `warning: é\n${page}== Info: ${'x'.repeat(2 * maxErrorBytes)}\nfatal: not valid`
  const expected = { text: 'warning: é\nfatal: not valid', answer: read(page).answer, isNotGit: true }
  const bytes = Buffer.from(whole)
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 6 }), (cuts) => {
      const output = new ErrorOutput()
      const ends = [...cuts.toSorted((a, b) => a - b), bytes.length]
      ends.forEach((end, index) => output.add(bytes.subarray(ends[index - 1] ?? 0, end)))
      const { text, answer, isNotGit } = output
      t.strictSame({ text, answer, isNotGit }, expected)
    }),
    { numRuns: 50 },
  )
})

void t.test('error output is bounded', async (t) => {
  t.equal(read('x'.repeat(3 * maxErrorBytes)).text.length, maxErrorBytes)
  t.ok(read('line\n'.repeat(maxErrorBytes)).text.length <= maxErrorBytes + 'line\n'.length)
})
