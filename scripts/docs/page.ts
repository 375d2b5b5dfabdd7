/**
 * One page of Markdown: its heading, the addresses of its sections as code hosts make them, what a search finds in it, and its HTML. Pure.
 */
import MarkdownIt, { type Token } from 'markdown-it'

/** `id`: the anchor within the page; empty for the text above the first heading. */
export type Section = { id: string; level: number; heading: string; text: string }
export type Page = { path: string; title: string; sections: Section[]; tokens: Token[] }

/** Where a link or a picture leads: an address, or its problem; `undefined` leaves the text without a link. */
export type Resolve = (target: string, kind: 'link' | 'picture') => string | undefined

const markdown = new MarkdownIt({ html: true })
markdown.renderer.rules['table_open'] = () => '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n'
markdown.renderer.rules['table_close'] = () => '</table></div>\n'
const fence = markdown.renderer.rules['fence']
if (fence === undefined) throw new Error('markdown-it has no rule for code blocks')
// Makes content that is wider than the screen scrollable with the keyboard.
markdown.renderer.rules['fence'] = (...args) => fence(...args).replace('<pre', '<pre tabindex="0"')

/** `problems` collects forbidden content: raw HTML, which readers on a git host would see differently. */
export function parsePage(path: string, text: string, problems: string[]): Page {
  const tokens = markdown.parse(text, {})
  withoutHtml(tokens, (html) => problems.push(`${path}: has HTML, write Markdown instead: ${html.trim().split('\n', 1)[0]}`))
  const sections = sectionsOf(tokens)
  const title = sections.find(({ level }) => level === 1)?.heading
  if (title === undefined) problems.push(`${path}: has no first-level heading`)
  return { path, title: title ?? path, sections, tokens: withoutEmptyHeads(tokens) }
}

/** The HTML of a page. Links that lead nowhere become text with a hint. */
export function renderPage({ tokens }: Page, resolve: Resolve): string {
  for (const { children } of tokens) {
    const open: Token[] = []
    for (const token of children ?? []) {
      if (token.type === 'image') token.attrSet('src', resolve(String(token.attrGet('src')), 'picture') ?? '')
      if (token.type === 'image') token.attrSet('loading', 'lazy')
      if (token.type === 'link_open') {
        const target = resolve(String(token.attrGet('href')), 'link')
        if (target !== undefined) token.attrSet('href', target)
        else {
          token.tag = 'span'
          token.attrs = [['title', `in the repository: ${token.attrGet('href')}`]]
        }
        open.push(token)
      }
      if (token.type === 'link_close') token.tag = open.pop()?.tag ?? token.tag
    }
  }
  return markdown.renderer.render(tokens, markdown.options, {})
}

/** The address of a heading as GitHub and GitLab make it. */
function addressOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Gives each heading its anchor, and collects the text below it. */
function sectionsOf(tokens: readonly Token[]): Section[] {
  const sections: Section[] = []
  const seen = new Map<string, number>()
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      const heading = textOf(tokens[at + 1])
      const address = addressOf(heading)
      const times = seen.get(address) ?? 0
      seen.set(address, times + 1)
      const id = times === 0 ? address : `${address}-${times}`
      token.attrSet('id', id)
      sections.push({ id, level: Number(token.tag.slice(1)), heading, text: '' })
    } else if (tokens[at - 1]?.type !== 'heading_open') {
      if (sections.length === 0) sections.push({ id: '', level: 0, heading: '', text: '' })
      const section = sections.at(-1)
      const text = textOf(token).trim()
      if (section !== undefined && text !== '') section.text += `${section.text === '' ? '' : ' '}${text}`
    }
  })
  return sections.filter(({ level, text }) => level > 0 || text !== '')
}

/** The visible text of a token. */
function textOf(token: Token | undefined): string {
  if (token === undefined) return ''
  if (token.type === 'fence' || token.type === 'code_block') return token.content
  const words = (token.children ?? []).map(({ type, content }) => (type === 'softbreak' || type === 'hardbreak' ? ' ' : content))
  return words.join('')
}

/** Takes out comments, which tools of this project read, and reports every other HTML. */
function withoutHtml(tokens: readonly Token[], report: (html: string) => void): void {
  for (const token of tokens) {
    if (token.type === 'html_block' || token.type === 'html_inline') {
      if (token.content.replaceAll(/<!--.*?-->/gs, '').trim() !== '') report(token.content)
      token.content = ''
    }
    withoutHtml(token.children ?? [], report)
  }
}

/** Markdown has no table without a head, so some have an empty one, which a screen reader would read out. */
function withoutEmptyHeads(tokens: readonly Token[]): Token[] {
  const kept = [...tokens]
  for (let start = kept.findIndex(isHead); start >= 0; start = kept.findIndex((token, at) => at > start && isHead(token))) {
    const end = kept.findIndex(({ type }, at) => at > start && type === 'thead_close')
    if (kept.slice(start, end).every(({ content }) => content === '')) kept.splice(start, end - start + 1)
  }
  return kept
}

function isHead({ type }: Token): boolean {
  return type === 'thead_open'
}
