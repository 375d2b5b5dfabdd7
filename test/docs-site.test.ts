/**
 * The site that `npm run docs` writes: what a page becomes, and what is refused.
 */
import t from 'tap'
import { siteOf } from '../scripts/docs/site.ts'
import { siteOfCheckout } from '../scripts/docs/write.ts'

const start = '# Start\n\n[on](docs/a/README.md#one-more-thing)\n'
const other = '# A\n\n<!-- a note -->\n\n## One more `thing`\n\n![picture](b.svg) [back](../../README.md)\n\n| | |\n|---|---|\n| x | y |\n'

function site(pages: Record<string, string>, source?: string) {
  const groups = [{ name: 'All', pages: ['README.md', 'docs/a/README.md'] }]
  const all = { 'README.md': start, 'docs/a/README.md': other, ...pages }
  const exists = (path: string): boolean => ['docs/a/b.svg', 'LICENSE'].includes(path)
  return siteOf({ pages: new Map(Object.entries(all)), exists, groups, version: '1.2.3', source })
}

void t.test('this checkout has a site: no link is dead and no page is missing in the lists', async (t) => {
  const { problems, files } = siteOfCheckout()
  t.same(problems, [])
  t.ok(files.has('docs/git-hosts/index.html'))
  for (const [name, content] of files) {
    t.notMatch(content, /(?:src|<link[^>]*href)="(?:https?:)?\/\//, `${name} takes nothing from elsewhere`)
    if (name.endsWith('.html')) t.notMatch(content, '&lt;!--', `${name} shows no comment`)
  }
})

void t.test('links and pictures are relative to their page, comments and empty table heads are gone', async (t) => {
  const { files, pictures, problems } = site({})
  t.same(problems, [])
  t.same(pictures, ['docs/a/b.svg'])
  t.match(files.get('index.html'), 'href="docs/a/index.html#one-more-thing"')
  const page = files.get('docs/a/index.html') ?? ''
  for (const part of ['id="one-more-thing"', 'src="b.svg"', 'href="../../index.html"', 'href="../../assets/site.css"']) t.match(page, part)
  t.notMatch(page, '<thead>')
  t.notMatch(page, 'a note')
})

void t.test('what is wrong with a page is said with its name', async (t) => {
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
  t.same(site({ 'docs/c.md': '# C\n' }).problems, ['docs/c.md: is in no group of scripts/docs/navigation.ts'])
})

void t.test('a file that is no page is a link where it is known where files can be read, and text otherwise', async (t) => {
  const pages = { 'docs/a/README.md': '# A\n\n## One more thing\n\n[terms](../../LICENSE)\n' }
  t.match(site(pages).files.get('docs/a/index.html'), '<span title="in the repository: ../../LICENSE">terms</span>')
  t.match(
    site(pages, 'https://git.example.com/sync/blob/v1/').files.get('docs/a/index.html'),
    '<a href="https://git.example.com/sync/blob/v1/LICENSE">terms</a>',
  )
})

void t.test('two headings of one name have two addresses, as on a code host', async (t) => {
  const { files, problems } = site({ 'docs/a/README.md': '# A\n\n## One more thing\n\n## One more thing\n\n[b](#one-more-thing-1)\n' })
  t.same(problems, [])
  t.match(files.get('docs/a/index.html'), 'id="one-more-thing-1"')
})
