/**
 * The texts that people read: paragraphs, headings and table cells of Markdown pages, help of the command line, texts of the status page. Pure.
 */
import type { Command } from 'commander'
import MarkdownIt, { type Token } from 'markdown-it'
import { codeMark, type Text } from './check-text.ts'

const markdown = new MarkdownIt()

/** `place`: the path of the page. Code blocks are left out; inline code and labels of other programs (in italics) become a mark. */
export function textsOfPage(place: string, page: string): Text[] {
  let line = 1
  return markdown.parse(page, {}).flatMap((token) => {
    line = token.map === null ? line : token.map[0] + 1
    return token.type === 'inline' ? [{ place, line, text: plainText(token) }] : []
  })
}

function plainText({ children }: Token): string {
  let isLabel = false
  const parts = (children ?? []).map(({ type, content }) => {
    if (type === 'em_open' || type === 'em_close') isLabel = type === 'em_open'
    if (type === 'code_inline' || (isLabel && type === 'text')) return codeMark
    return type === 'softbreak' || type === 'hardbreak' ? '\n' : content
  })
  return parts.join('')
}

/** Descriptions of a command, its arguments and options, and of the commands below it. */
export function textsOfCommand(command: Command, parent = ''): Text[] {
  const name = `${parent} ${command.name()}`.trim()
  const own = [command.summary(), command.description(), ...command.registeredArguments.map(({ description }) => description)]
  const options = command.options.map(({ description }) => description)
  return [
    ...[...own, ...options].map((text) => ({ place: `${name} --help`, line: 1, text })),
    ...command.commands.flatMap((below) => textsOfCommand(below, name)),
  ]
}

/** Every text in a record of texts; functions that build one are left out. */
export function textsOfRecord(place: string, record: unknown): Text[] {
  if (typeof record === 'string') return [{ place, line: 1, text: record }]
  if (typeof record !== 'object' || record === null) return []
  return Object.entries(record).flatMap(([key, value]) => textsOfRecord(`${place}.${key}`, value))
}
