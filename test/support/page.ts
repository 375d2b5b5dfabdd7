/**
 * The fenced code blocks of a documentation page, for tests that run them.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')

/** `section` is the text of the second-level heading above. */
export type Block = { section: string; language: string; text: string }

export function blocksOf(page: string): Block[] {
  const sections = readFileSync(path.join(root, page), 'utf8').split(/^## /m)
  return sections.flatMap((content) => {
    const [section = ''] = content.split('\n')
    return [...content.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = '', text = '']) => ({ section, language, text }))
  })
}

/** The texts of a page's blocks in a language. */
export function textsIn(page: string, language: string): string[] {
  return blocksOf(page).flatMap((block) => (block.language === language ? [block.text] : []))
}
