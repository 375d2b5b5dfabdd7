/**
 * The script of the status page, as text: it updates an open page. The page works without it.
 * It fetches the page again after a change and merges the differences, so that focus, selection and open parts stay. It updates ages, and shows the
 * local time in the tooltip of a time.
 * It shows that the page is outdated while no events arrive, even if the connection is silently dead, or while the response is not a status page,
 * such as a refusal or the login of a proxy; it retries both. A browser stops reconnecting to `/events` after one refusal, so the script reconnects.
 * If the user is signed out, it retries only once a minute, and when the user returns to the tab, perhaps after a login in another one.
 * A hidden page holds no stream: a browser has six connections for each host, and each stream takes one.
 */
import { ageIn, type Language } from '../locales/texts.ts'

/** Interval of keep-alive events: proxies and the script close a connection after a longer silence. */
export const aliveEveryMs = 15_000
/** Allows for two lost keep-alive events and one late one before the connection counts as dead. */
const silentMs = 2 * aliveEveryMs + 10_000

/** The unit after the number of an age: seconds, minutes, hours and days. */
const units = (language: Language): string[] => ['s', 'm', 'h', 'd'].map((unit) => ageIn(language, `2${unit}`).slice(1))

export const liveScript = `(() => {
  const againAfterMs = 5000
  const outAgainAfterMs = 60000
  const answerMs = 30000
  const silentMs = ${silentMs}
  const stale = document.getElementById('stale')
  const out = document.getElementById('out')
  let connected = true
  let fresh = true
  let isOut = false
  let wasOut = false
  let waiting = false
  let again = false
  let retry
  let silence
  let asking
  let overtaken = false
  let events
  const show = () => { out.hidden = !isOut; stale.hidden = isOut || (connected && fresh) }

  let aheadMs = 0
  const now = () => Date.now() + aheadMs
  const setClock = (page) => {
    const at = page.getElementById('as-of')
    if (at) aheadMs = Date.parse(at.dateTime) - Date.now()
  }
  const write = ({ firstChild }, part, text) => {
    // A browser that translates the page replaces text nodes by elements.
    if (firstChild?.nodeType !== 3) return
    const data = firstChild.data.replace(part, text)
    if (firstChild.data !== data) firstChild.data = data
  }
  const units = ${JSON.stringify({ en: units('en'), de: units('de') })}[document.documentElement.lang]
  const anAge = new RegExp('[0-9]+(' + units.join('|') + ')')
  const sizes = [1, 60, 3600, 86400]
  const age = (ms) => {
    const seconds = Math.max(0, Math.floor(ms / 1000))
    const unit = Math.max(0, sizes.findLastIndex((size) => seconds >= 2 * size))
    return Math.floor(seconds / sizes[unit]) + units[unit]
  }
  const tick = () => {
    for (const time of document.querySelectorAll('time[title]')) write(time, anAge, age(now() - Date.parse(time.dateTime)))
    for (const time of document.querySelectorAll('time.left')) {
      const leftMs = Date.parse(time.dateTime) - now()
      write(time, anAge, age(leftMs))
      time.hidden = leftMs <= 0
    }
  }

  const marks = { SECTION: 'h2', DETAILS: 'summary', LI: 'a' }
  const keyOf = (node) => {
    if (node.nodeType !== 1) return node.nodeName
    const mark = node.nodeName === 'A' ? node : marks[node.nodeName] && node.querySelector(marks[node.nodeName])
    return node.nodeName + ' ' + (node.id || (mark && (mark.getAttribute('href') || mark.textContent)) || '')
  }
  const patch = (old, next) => {
    if (old.isEqualNode(next)) return
    if (old.nodeType !== 1) { old.data = next.data; return }
    const isReaders = (name) => name === 'open' && old.nodeName === 'DETAILS'
    for (const { name } of [...old.attributes]) if (!next.hasAttribute(name) && !isReaders(name)) old.removeAttribute(name)
    for (const { name, value } of next.attributes) if (!isReaders(name)) old.setAttribute(name, value)
    const kept = new Map()
    for (const child of old.childNodes) {
      const key = keyOf(child)
      kept.set(key, [...(kept.get(key) || []), child])
    }
    const arriving = [...next.childNodes].map((child) => ({ child, was: (kept.get(keyOf(child)) || []).shift() }))
    for (const left of [...kept.values()].flat()) left.remove()
    let at = old.firstChild
    for (const { child, was } of arriving) {
      if (was) patch(was, child)
      if (was && was === at) at = at.nextSibling
      else old.insertBefore(was || child, at)
    }
  }
  const take = (main) => {
    const focused = document.activeElement
    patch(document.querySelector('main'), main)
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true })
  }

  const refresh = async () => {
    if (waiting) { again = true; return }
    waiting = true
    wasOut ||= isOut
    clearTimeout(retry)
    asking = new AbortController()
    const limit = setTimeout(() => asking.abort(), answerMs)
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'manual', signal: asking.signal })
      isOut = answer.type === 'opaqueredirect' || answer.status === 401 || answer.status === 403
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const from = next.querySelector('#stale') && next.querySelector('main')
      if (from) { setClock(next); take(from); tick() }
      fresh = from !== null
    } catch { fresh &&= overtaken }
    clearTimeout(limit)
    waiting = false
    if (!overtaken) show()
    overtaken = false
    if (fresh && wasOut && !isOut) { wasOut = false; follow() }
    if (again) { again = false; refresh() }
    else if (!fresh) retry = setTimeout(refresh, isOut ? outAgainAfterMs : againAfterMs)
  }
  const lose = () => { connected = false; show() }
  const hear = () => {
    clearTimeout(silence)
    silence = setTimeout(() => { lose(); events.close(); follow() }, silentMs)
  }
  /** A keep-alive event confirms the page only while no request is in progress. */
  const confirmNow = () => {
    hear()
    const at = document.getElementById('as-of')
    if (at && connected && fresh && !waiting) write(at, /[0-9].*UTC/, new Date(now()).toISOString().slice(0, 19).replace('T', ' ') + ' UTC')
  }
  const follow = () => {
    if (isOut || document.hidden || (events && events.readyState !== 2)) return
    events = new EventSource('/events')
    hear()
    events.addEventListener('alive', confirmNow)
    events.addEventListener('changed', () => { refresh(); hear() })
    // Repeats a request that may have been sent on a dead connection.
    events.addEventListener('open', () => {
      connected = true
      hear()
      if (waiting) { overtaken = true; asking.abort() }
      refresh()
    })
    events.addEventListener('error', () => {
      lose()
      if (events.readyState !== 2) return
      clearTimeout(silence)
      refresh()
      setTimeout(follow, againAfterMs)
    })
  }
  setClock(document)
  setInterval(tick, 1000)
  follow()
  addEventListener('focus', () => { if (isOut) refresh() })
  addEventListener('pointerover', ({ target }) => { if (target.title && target.dateTime) target.title = new Date(target.dateTime).toLocaleString() })
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) { refresh(); follow(); return }
    clearTimeout(silence)
    if (events) events.close()
  })
  const form = document.querySelector('form')
  form?.addEventListener('input', () => {
    const query = new URLSearchParams(new FormData(form))
    for (const [name, value] of [...query]) if (value === '') query.delete(name)
    history.replaceState(null, '', query.size ? '?' + query : location.pathname)
    refresh()
  })
})()
`
