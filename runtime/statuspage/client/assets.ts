/**
 * The style sheet, icon and live script of the status page. Nothing is loaded from other hosts.
 */
import { createHash } from 'node:crypto'
import { liveScript } from './live-script.ts'

/** `path` contains a hash of the text, so that browsers may cache it forever; `type` is the content type. */
export type Asset = { path: string; type: string; text: string }

const styleText = `:root{color-scheme:light dark;--ground:#f4f6f8;--card:#fff;--line:#d8dde3;--text:#1a1f24;--quiet:#57606a;--ok:#1a7f37;--working:#0a5cc2;--warning:#8a5a00;--error:#b3261e;--note:#fff6e0}
@media(prefers-color-scheme:dark){:root{--ground:#0f1317;--card:#181d23;--line:#303840;--text:#e6eaee;--quiet:#9da7b1;--ok:#4cc46a;--working:#6cb0ff;--warning:#e5b04a;--error:#ff8a80;--note:#2a2415}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:14px/1.45 system-ui,sans-serif}
main{overflow-wrap:anywhere}body>header,main,.bar,[role=status]{max-width:150rem;margin:0 auto;padding:.5rem 1rem}[role=status],.bar{padding-block:0}
body>header{display:flex;flex-wrap:wrap;gap:.4rem 1.5rem;align-items:baseline;padding-top:.9rem}
h1{font-size:1.4rem;font-weight:600;margin:0;overflow-wrap:anywhere}h2{font-size:.95rem;font-weight:600;margin:0 0 .45rem}h3{font-size:.9rem;margin:.7rem 0 .2rem}
p{margin:0 0 .35rem}a{color:var(--working);text-underline-offset:.15em;text-decoration-thickness:1px}
h2 a,b a{color:inherit;text-decoration-color:var(--line)}
a:focus-visible,input:focus-visible,select:focus-visible,button:focus-visible,summary:focus-visible,pre:focus-visible{outline:3px solid var(--working);outline-offset:2px}
nav{margin:0 0 .6rem}.place{display:flex;flex-wrap:wrap;gap:0 1.5rem}.quiet{color:var(--quiet)}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem .9rem;margin:0 0 .8rem;min-width:0}
.card>header{display:flex;flex-wrap:wrap;gap:.1rem .8rem;align-items:baseline;margin:0 0 .15rem}.card>header>h2{font-size:1.05rem;margin:0}
.parts{columns:28rem 3;column-gap:.8rem;margin:0 0 .8rem}.parts>.card{break-inside:avoid;margin:0}.parts>.card+.card{margin-top:.8rem}
.light{font-weight:600;white-space:nowrap}.ok{color:var(--ok)}.working{color:var(--working)}.warning{color:var(--warning)}.error{color:var(--error)}
.tiles{display:grid;align-items:start;grid-template-columns:repeat(auto-fill,minmax(13.5rem,1fr));gap:.45rem;list-style:none;margin:.5rem 0 0;padding:0}
.tile{border:1px solid var(--line);border-left:.28rem solid currentColor;border-radius:.3rem;padding:.35rem .55rem}
.tile>*{color:var(--text)}.tile>.light{color:inherit}.tile>.quiet{color:var(--quiet)}.tile p{margin:.1rem 0 0}
.tile>header{display:grid}.tile>header>.light{color:var(--own)}
.tile.ok{--own:var(--ok)}.tile.working{--own:var(--working)}.tile.warning{--own:var(--warning)}.tile.error{--own:var(--error)}
form,.field{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}input,select,button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.35rem;padding:.3rem .55rem}
input{min-width:20rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem .9rem;margin:0}dt{color:var(--quiet)}dd{margin:0}
ul.plain{margin:.2rem 0 0;padding-left:1.1rem}code,pre{font:.92em ui-monospace,monospace}
.entries,.files{list-style:none;margin:0;padding:0}.entries>li,.files>li{padding:.3rem 0;border-top:1px solid var(--line)}.entries>li:first-child,.files>li:first-child{border-top:0;padding-top:0}
pre{margin:.3rem 0;padding:.45rem .6rem;overflow-x:auto;background:var(--ground);border-radius:.3rem;max-height:32rem;line-height:1.35}
.add{color:var(--ok)}.remove{color:var(--error)}.change{color:var(--working)}.op{font-weight:600}summary{cursor:pointer}
.banner{background:var(--note);border:1px solid var(--warning);border-left-width:.28rem;border-radius:.35rem;padding:.35rem .8rem;margin:0 0 .6rem;color:var(--text);font-weight:500}
.banner.error{border-color:var(--error)}.banner.ok{border-color:var(--ok)}
.banner.open{flex-basis:100%;margin:0}
nav.actions{display:flex;flex-wrap:wrap;gap:.5rem;align-items:baseline;margin:.5rem 0}a.button{display:inline-block;border:1px solid var(--line);border-radius:.35rem;padding:.25rem .6rem;text-decoration:none;color:inherit}
body>header>a{margin-left:auto}.narrow{max-width:48rem}.card>form,.card>p:has(>.button){margin-top:.7rem}
button,.button{cursor:pointer}button:hover,.button:hover{border-color:var(--quiet)}.primary,a.primary{background:var(--working);border-color:var(--working);color:var(--card);font-weight:600}
nav.actions ul{list-style:none;margin:.4rem 0 0;padding:0}nav.actions li{padding:.2rem 0}
nav.pages{display:flex;gap:1rem;margin:.8rem 0 0}
@media(min-width:110rem){html{font-size:118.75%}body{font-size:17px}}
@media(max-width:40rem){.field{flex:1 1 100%;flex-wrap:nowrap}.field>label{flex:0 0 4.5rem}.field>input,.field>select{flex:1;min-width:0}body>header,main,.bar{padding-inline:.7rem}.card{padding:.6rem .7rem}dl{grid-template-columns:1fr}dt{margin-top:.2rem}}
`

const iconText = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#1a7f37"/><path d="M4.5 8.2l2.4 2.4 4.6-5" fill="none" stroke="#fff" stroke-width="1.6"/></svg>`

/** The name contains a hash of the content, so that browsers cache it permanently. */
function asset(name: string, type: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return { path: `/assets/${name.replace('.', `-${hash}.`)}`, type, text }
}

export const style = asset('page.css', 'text/css; charset=utf-8', styleText)
export const script = asset('page.js', 'text/javascript; charset=utf-8', liveScript)
export const icon = asset('icon.svg', 'image/svg+xml', iconText)
