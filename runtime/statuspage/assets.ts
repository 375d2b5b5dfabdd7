/**
 * What the status page needs besides its text: a style sheet, an icon, and the few lines of script that keep it live. Everything works without
 * the script. Nothing is loaded from elsewhere.
 */
import { createHash } from 'node:crypto'

export type Asset = { path: string; type: string; text: string }

const styleText = `:root{color-scheme:light dark;--ground:#f6f7f8;--card:#fff;--line:#d5d9de;--text:#1a1f24;--quiet:#57606a;--ok:#1a7f37;--working:#0a5cc2;--warning:#8a5a00;--error:#b3261e}
@media(prefers-color-scheme:dark){:root{--ground:#12161a;--card:#1b2127;--line:#363e46;--text:#e8ecef;--quiet:#a3adb7;--ok:#4cc46a;--working:#6cb0ff;--warning:#e5b04a;--error:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.45 system-ui,sans-serif}
header,main,.bar,[role=status]{max-width:120rem;margin:0 auto;padding:.5rem 1rem}[role=status]{padding-block:0}
header{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:baseline}
h1{font-size:1.35rem;margin:0}h2{font-size:1rem;margin:1.2rem 0 .4rem}header>h2{font-size:1.1rem;margin:0}
a{color:inherit}a:focus-visible,input:focus-visible,select:focus-visible,button:focus-visible{outline:3px solid var(--working);outline-offset:2px}
.quiet{color:var(--quiet)}.sync{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.8rem 1rem;margin:0 0 1rem}
.sync>header{padding:0;margin:0;gap:.25rem 1rem}
.light{font-weight:600;white-space:nowrap}.ok{color:var(--ok)}.working{color:var(--working)}.warning{color:var(--warning)}.error{color:var(--error)}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.6rem;list-style:none;margin:.7rem 0 0;padding:0}
.tile{border:1px solid var(--line);border-left:.35rem solid currentColor;border-radius:.35rem;padding:.45rem .6rem;overflow-wrap:anywhere}
.tile>*{color:var(--text)}.tile>.light{color:inherit}.tile>.quiet{color:var(--quiet)}.tile p{margin:.2rem 0 0}.tile b{display:block}
form{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}input,select,button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.35rem;padding:.3rem .5rem}
input{min-width:20rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.6rem 0 0}dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}
ul.plain{margin:.3rem 0 0;padding-left:1.2rem}code{font:.92em ui-monospace,monospace}
.banner{border:2px solid var(--error);border-radius:.5rem;padding:.5rem 1rem;margin:0 0 1rem;font-weight:600}
.banner.open{flex-basis:100%;margin:0;border-color:var(--warning);color:var(--warning)}
nav.actions{display:flex;flex-wrap:wrap;gap:.5rem;align-items:baseline;margin:.7rem 0}a.button{display:inline-block;border:1px solid var(--line);border-radius:.35rem;padding:.3rem .6rem;text-decoration:none}
nav.pages{display:flex;gap:1rem;margin:1rem 0}
@media(max-width:40rem){input{min-width:0;width:100%}}
`

/**
 * Fetches the page anew when something has changed; the place in it is kept. Says that the page is behind while nobody tells of changes, and
 * while what comes back is no page of ours, such as a refusal or the login of a proxy; both are tried again. A browser itself gives up `/events`
 * for good when that is refused once.
 */
const scriptText = `(() => {
  const againAfterMs = 5000
  const stale = document.getElementById('stale')
  let told = true
  let fresh = true
  let waiting = false
  let again = false
  let retry
  const show = () => { stale.hidden = told && fresh }
  const refresh = async () => {
    if (waiting) { again = true; return }
    waiting = true
    clearTimeout(retry)
    try {
      const answer = await fetch(location.href, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(30000) })
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const from = next.querySelector('#stale') && next.querySelector('main')
      if (from) document.querySelector('main').replaceChildren(...from.childNodes)
      fresh = from !== null
    } catch { fresh = false }
    waiting = false
    show()
    if (again) { again = false; refresh() }
    else if (!fresh) retry = setTimeout(refresh, againAfterMs)
  }
  const follow = () => {
    const events = new EventSource('/events')
    events.addEventListener('changed', refresh)
    events.addEventListener('open', () => { told = true; refresh() })
    events.addEventListener('error', () => {
      told = false
      show()
      if (events.readyState === 2) setTimeout(follow, againAfterMs)
    })
  }
  follow()
  const form = document.querySelector('form')
  form?.addEventListener('input', () => {
    const query = new URLSearchParams(new FormData(form))
    for (const [name, value] of [...query]) if (value === '') query.delete(name)
    history.replaceState(null, '', query.size ? '?' + query : location.pathname)
    refresh()
  })
})()
`

const iconText = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#1a7f37"/><path d="M4.5 8.2l2.4 2.4 4.6-5" fill="none" stroke="#fff" stroke-width="1.6"/></svg>`

/** The name tells the content, so that a browser keeps it for good. */
function asset(name: string, type: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return { path: `/assets/${name.replace('.', `-${hash}.`)}`, type, text }
}

export const style = asset('page.css', 'text/css; charset=utf-8', styleText)
export const script = asset('page.js', 'text/javascript; charset=utf-8', scriptText)
export const icon = asset('icon.svg', 'image/svg+xml', iconText)
