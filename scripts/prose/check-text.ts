/**
 * Checks one text with retext: avoided words, US spelling, sentence length and repeated words. Pure. retext needs 26 packages, textlint
 * about 200, and Vale is not on npm.
 */
import type { Root } from 'nlcst'
import { toString } from 'nlcst-to-string'
import retextEnglish from 'retext-english'
import repeatedWords from 'retext-repeated-words'
import { type Plugin, unified } from 'unified'
import { visit } from 'unist-util-visit'
import { VFile } from 'vfile'
import { avoided, british, maxWords } from './terms.ts'

/** `line`: of the file, or of the text where it has no file. */
export type Problem = { place: string; line: number; message: string }

/** A text of one paragraph, heading or table cell. `line`: where it begins. */
export type Text = { place: string; line: number; text: string }

/** Replaces code in a text: neither a word nor punctuation, so that no rule checks it. */
export const codeMark = '\u{25A1}'

/** One piece of code, or a list of names: a reader skips through it. */
const code = /\u{25A1}(?:, \u{25A1})*/gu

const plainEnglish: Plugin<[], Root> = () => (tree, file) => {
  visit(tree, 'SentenceNode', (node) => {
    const sentence = toString(node).replaceAll(/\s+/g, ' ')
    const place = node.position
    for (const { pattern, advice } of [...avoided, ...british]) {
      const found = pattern.exec(sentence)?.[0]
      if (found !== undefined && !isIdentifier(found)) file.message(`"${found}": ${advice}`, { place })
    }
    let words = sentence.match(code)?.length ?? 0
    visit(node, 'WordNode', () => void words++)
    if (words > maxWords) file.message(`a sentence of ${words} words (at most ${maxWords}): split it or use a list`, { place })
  })
}

/** Names in code, such as reasons, are headings too. */
function isIdentifier(word: string): boolean {
  return /[a-z][A-Z]/.test(word)
}

const processor = unified().use(retextEnglish).use(repeatedWords).use(plainEnglish).freeze()

export function checkText({ place, line, text }: Text): Problem[] {
  const file = new VFile(text)
  processor.runSync(processor.parse(file), file)
  return file.messages.map(({ reason, line: within = 1 }) => ({ place, line: line + within - 1, message: reason }))
}
