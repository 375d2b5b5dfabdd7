/**
 * The frame of a page: head, search, the list of all pages, and the contents of this one. Everything except the search works without the
 * script.
 */
import { startPage } from './navigation.ts'
import type { Page } from './page.ts'

export type Listed = { name: string; entries: { path: string; at: string; label: string }[] }

/** `root`: the relative path from the page to the root of the site, empty or without a trailing slash. `html`: the text. */
export type LaidOut = { page: Page; html: string; listed: readonly Listed[]; root: string; version: string }

const product = 'Cluster Sync Operator'

export function layout({ page, html, listed, root, version }: LaidOut): string {
  const up = root === '' ? '' : `${root}/`
  const title = page.path === startPage ? product : `${page.title} · ${product}`
  const headings = page.sections.filter(({ level }) => level === 2)
  const onThisPage = headings.map(({ id, heading }) => `<li><a href="#${escape(id)}">${escape(heading)}</a></li>`).join('')
  return `<!doctype html>
<html lang="en" data-root="${up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}assets/site.css">
<script defer src="${up}assets/site.js"></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<a class="product" href="${up}index.html">${product}</a>
<a class="to-pages" href="#pages">All pages</a>
<search hidden>
<label for="query">Search</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" maxlength="200" placeholder="Search ( / )" aria-controls="found">
<div id="found" hidden><p role="status"></p><ol></ol></div>
</search>
</header>
<div class="columns">
<main id="content" tabindex="-1">
${html}</main>
${headings.length < 2 ? '' : `<nav class="here" aria-labelledby="here"><h2 id="here">On this page</h2><ul>${onThisPage}</ul></nav>`}
<nav id="pages" class="pages" aria-label="All pages">
${listed.map((group) => groupOf(group, page.path, up)).join('\n')}
</nav>
</div>
<footer><p>${product} ${escape(version)}, ${escape(page.path)}</p></footer>
</body>
</html>
`
}

function groupOf({ name, entries }: Listed, present: string, up: string): string {
  const items = entries.map(({ path, at, label }) => {
    const isHere = path === present ? ' aria-current="page"' : ''
    return `<li><a href="${up}${escape(at)}"${isHere}>${escape(label)}</a></li>`
  })
  return `<h2>${escape(name)}</h2><ul>${items.join('')}</ul>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
