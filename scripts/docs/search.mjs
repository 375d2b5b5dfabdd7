/**
 * The search of the site, in the browser: the index is loaded on the first use, and no server is queried.
 */
import MiniSearch from 'minisearch'

const shown = 20
const around = 160
const root = document.documentElement.dataset.root ?? ''
const box = document.querySelector('search')
const query = document.querySelector('#query')
const found = document.querySelector('#found')
const status = found.querySelector('p')
const list = found.querySelector('ol')

let index

/** A script, because a page that is read from a disk may fetch nothing. */
function load() {
  index ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${root}assets/sections.js`
    script.addEventListener('load', () => resolve(indexed(globalThis.docsSections)))
    script.addEventListener('error', () => reject(new Error(`${script.src} cannot be read`)))
    document.head.append(script)
  })
  return index
}

function indexed(sections) {
  const search = new MiniSearch({
    idField: 'number',
    fields: ['name', 'heading', 'page', 'text'],
    storeFields: ['at', 'page', 'heading', 'text'],
    searchOptions: { boost: { name: 8, heading: 4, page: 2 }, prefix: true, fuzzy: (word) => (word.length > 4 ? 0.2 : 0) },
  })
  search.addAll(sections.map((section, number) => ({ ...section, number })))
  return search
}

/** Sections with all words first; if there are none, those with some. */
function results(search, text) {
  const strict = search.search(text, { combineWith: 'AND' })
  return strict.length > 0 ? strict : search.search(text)
}

async function update() {
  const text = query.value.trim()
  if (text === '') return close()
  try {
    const all = results(await load(), text)
    // The user has typed more while the sections were loading.
    if (query.value.trim() !== text) return
    status.textContent = all.length === 0 ? `Nothing about “${text}”` : `${all.length} ${all.length === 1 ? 'section' : 'sections'}`
    list.replaceChildren(...all.slice(0, shown).map(item))
  } catch (error) {
    status.textContent = String(error.message)
  }
  found.hidden = false
}

function item({ at, page, heading, text, terms }) {
  const link = document.createElement('a')
  link.href = root + at
  link.textContent = heading === page || heading === '' ? page : `${page}: ${heading}`
  const quote = document.createElement('p')
  quote.append(...marked(excerpt(text, terms), terms))
  const entry = document.createElement('li')
  entry.append(link, quote)
  return entry
}

/** The part of a text around the first found word. */
function excerpt(text, terms) {
  const lower = text.toLowerCase()
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0)
  const start = Math.max(0, Math.min(...places, text.length) - around / 2)
  const from = places.length === 0 || start === 0 ? 0 : text.indexOf(' ', start) + 1
  return `${from === 0 ? '' : '… '}${text.slice(from, from + around)}${from + around < text.length ? ' …' : ''}`
}

function marked(text, terms) {
  const words = terms.map((term) => term.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  if (words.length === 0) return [text]
  return text.split(new RegExp(`(${words.join('|')})`, 'gi')).map((part, at) => {
    if (at % 2 === 0) return part
    const mark = document.createElement('mark')
    mark.textContent = part
    return mark
  })
}

function close() {
  found.hidden = true
  list.replaceChildren()
  status.textContent = ''
}

/** From the field into the results and back with the arrow keys. */
function move(event) {
  const stops = [query, ...list.querySelectorAll('a')]
  const at = stops.indexOf(document.activeElement)
  const next = stops[at + (event.key === 'ArrowDown' ? 1 : -1)]
  if (at < 0 || next === undefined) return
  event.preventDefault()
  next.focus()
}

box.hidden = false
query.addEventListener('focus', () => void load().catch(() => undefined), { once: true })
query.addEventListener('input', () => void update())
box.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event)
  if (event.key === 'Enter' && event.target === query) list.querySelector('a')?.click()
  if (event.key === 'Escape') {
    query.value = ''
    close()
    query.focus()
  }
})
document.addEventListener('click', (event) => {
  if (!box.contains(event.target)) close()
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input')) return
  event.preventDefault()
  query.focus()
})
