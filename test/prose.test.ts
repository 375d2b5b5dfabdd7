/**
 * The language check of docs, help and status page: the texts that it reads, and the problems that it reports.
 */
import { Command } from 'commander'
import t from 'tap'
import { checkText } from '../scripts/prose/check-text.ts'
import { textsOfCommand, textsOfPage, textsOfRecord } from '../scripts/prose/texts.ts'

const messagesOf = (text: string): string[] => checkText({ place: 'page.md', line: 1, text }).map(({ message }) => message)

void t.test('an avoided word is reported with its replacement', async (t) => {
  t.strictSame(messagesOf('The file is made anew.'), ['"anew": write "again", or name the action: recreated, reloaded'])
  t.strictSame(messagesOf('It is no branch.'), ['"is no": write "is not a …"'])
  t.strictSame(messagesOf('There is no branch, and it is no longer followed. The program renews itself.'), [])
})

void t.test('British spelling is reported, except in names in code', async (t) => {
  t.strictSame(messagesOf('The behaviour.'), ['"behaviour": use US spelling (-or)'])
  t.strictSame(messagesOf('It is unauthorised.'), ['"unauthorised": use US spelling (-ize)'])
  t.strictSame(messagesOf('GitUnauthorised has a table of exercises and a promise.'), [])
})

void t.test('a sentence may have 35 words', async (t) => {
  t.strictSame(messagesOf(`${'word and '.repeat(17)}end.`), [])
  t.strictSame(messagesOf(`${'word and '.repeat(18)}end.`), ['a sentence of 37 words (at most 35): split it or use a list'])
})

void t.test('a repeated word is reported with its line', async (t) => {
  const [problem] = checkText({ place: 'page.md', line: 7, text: 'one\nthe the file' })
  t.strictSame({ place: problem?.place, line: problem?.line }, { place: 'page.md', line: 8 })
})

void t.test('paragraphs, headings and table cells of a page are read, code and labels are not', async (t) => {
  const page = '# Head\n\ntext `code` *Label*\n\n```sh\nanew\n```\n\n| a | b |\n|---|---|\n| c | d |\n'
  t.strictSame(
    textsOfPage('page.md', page).map(({ line, text }) => [line, text]),
    [
      [1, 'Head'],
      [3, 'text \u{25A1} \u{25A1}'],
      [9, 'a'],
      [9, 'b'],
      [11, 'c'],
      [11, 'd'],
    ],
  )
})

void t.test('every description of a command and every text of a record is read', async (t) => {
  const program = new Command('program').description('first')
  program.command('below').summary('second').description('third').argument('<name>', 'fourth').option('--all', 'fifth')
  const texts = textsOfCommand(program).map(({ text }) => text)
  t.strictSame(
    texts.filter((text) => text !== ''),
    ['first', 'second', 'third', 'fourth', 'fifth'],
  )
  t.strictSame(
    textsOfRecord('words', { one: 'first', two: { three: 'second', four: () => '' } }).map(({ place, text }) => [place, text]),
    [
      ['words.one', 'first'],
      ['words.two.three', 'second'],
    ],
  )
})
