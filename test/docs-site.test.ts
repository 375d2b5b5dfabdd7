/**
 * The site that `npm run docs` writes: the HTML of a page, and the errors.
 */
import t from 'tap'
import { siteOf } from '../scripts/docs/site.ts'
import { siteOfCheckout } from '../scripts/docs/write.ts'
import { containsText, lacksText } from './support/assertions.ts'

const start = '# Start\n\n[on](docs/a/README.md#one-more-thing)\n'
const other = '# A\n\n<!-- a note -->\n\n## One more `thing`\n\n![picture](b.svg) [back](../../README.md)\n\n| | |\n|---|---|\n| x | y |\n'

function site(pages: Record<string, string>, source?: string) {
  const groups = [{ name: 'All', pages: ['README.md', 'docs/a/README.md'] }]
  const all = { 'README.md': start, 'docs/a/README.md': other, ...pages }
  const exists = (path: string): boolean => ['docs/a/b.svg', 'LICENSE'].includes(path)
  return siteOf({ pages: new Map(Object.entries(all)), exists, groups, version: '1.2.3', source })
}

void t.test('the site of this checkout has no dead link and no page missing in the navigation', async (t) => {
  const { problems, files } = siteOfCheckout()
  t.strictSame(problems, [])
  t.ok(files.has('docs/how-to/git-hosts/index.html'))
  for (const [name, content] of files) {
    t.notMatch(content, /(?:src|<link[^>]*href)="(?:https?:)?\/\//, `${name} takes nothing from elsewhere`)
    if (name.endsWith('.html')) lacksText(t, content, '&lt;!--', `${name} shows no comment`)
  }
})

void t.test('links and pictures are relative to their page, comments and empty table heads are removed', async (t) => {
  const { files, pictures, problems } = site({})
  t.strictSame(problems, [])
  t.strictSame(pictures, ['docs/a/b.svg'])
  containsText(t, files.get('index.html'), 'href="docs/a/index.html#one-more-thing"')
  const page = files.get('docs/a/index.html') ?? ''
  for (const part of ['id="one-more-thing"', 'src="b.svg"', 'href="../../index.html"', 'href="../../assets/site.css"'])
    containsText(t, page, part)
  lacksText(t, page, '<thead>')
  lacksText(t, page, 'a note')
})

void t.test('an error of a page names the page', async (t) => {
  for (const [text, problem] of [
    ['# A\n\n[b](b.md)', 'docs/a/README.md: leads to a file that is not there: b.md'],
    ['# A\n\n[b](../../README.md#two)', 'docs/a/README.md: leads to a heading that is not there: ../../README.md#two'],
    ['# A\n\n[b](/etc/hosts)', 'docs/a/README.md: only https, http, mailto and relative links work: /etc/hosts'],
    [
      '# A\n\n![b](https://pictures.example.com/b.png)',
      'docs/a/README.md: a picture must be a file of the repository: https://pictures.example.com/b.png',
    ],
    ['# A\n\nthe file <name>', 'docs/a/README.md: has HTML, write Markdown instead: <name>'],
    ['text', 'docs/a/README.md: has no first-level heading'],
  ] as const)
    t.ok(site({ 'README.md': '# Start\n', 'docs/a/README.md': text }).problems.includes(problem), problem)
  t.strictSame(site({ 'docs/c.md': '# C\n' }).problems, ['docs/c.md: is in no group of scripts/docs/navigation.ts'])
})

void t.test('a file that is not a page becomes a link if a file URL is configured, and text otherwise', async (t) => {
  const pages = { 'docs/a/README.md': '# A\n\n## One more thing\n\n[terms](../../LICENSE)\n' }
  containsText(t, site(pages).files.get('docs/a/index.html'), '<span title="in the repository: ../../LICENSE">terms</span>')
  containsText(
    t,
    site(pages, 'https://git.example.com/sync/blob/v1/').files.get('docs/a/index.html'),
    '<a href="https://git.example.com/sync/blob/v1/LICENSE">terms</a>',
  )
})

void t.test('two headings with the same text have two anchors, as on a git host', async (t) => {
  const { files, problems } = site({ 'docs/a/README.md': '# A\n\n## One more thing\n\n## One more thing\n\n[b](#one-more-thing-1)\n' })
  t.strictSame(problems, [])
  containsText(t, files.get('docs/a/index.html'), 'id="one-more-thing-1"')
})
