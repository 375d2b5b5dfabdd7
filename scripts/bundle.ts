/**
 * `node scripts/bundle.ts [folder]` makes the programs that the images run, in build/ or the folder that is named:
 *
 *   controller.js   the controller
 *   isolate.mjs     the thread in which it checks commits
 *   login.mjs       loaded by the controller where people log in to the status page
 *   agent.js        the agent
 *   tracing.mjs     loaded by controller and agent where they are to trace
 *
 * One file each, because what a process imports is its memory, and so that types are stripped once instead of at every start.
 * All of it is ASCII: V8 keeps the text of a program for as long as it runs, and one character beyond Latin-1 makes two bytes of each.
 * <file>.meta.json says what went into each.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build, type Plugin } from 'esbuild'
import { dropUnusedClient } from './drop-unused-client.ts'
import { plainBuiltins } from './plain-builtins.ts'

const root = path.resolve(import.meta.dirname, '..')
const folder = path.resolve(process.argv[2] ?? path.join(root, 'build'))

/**
 * What client-node can do and a pod never does: other connections than ours, proxies of a kubeconfig, and the sign-ins of people. A kubeconfig
 * that asks for one hears so; sources that run as they are have all of it.
 */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  undici: ['Agent', 'ProxyAgent', 'fetch'],
  'socks-proxy-agent': ['SocksProxyAgent'],
  socks: ['SocksClient'],
  hpagent: ['HttpProxyAgent', 'HttpsProxyAgent'],
  'openid-client': ['Configuration', 'discovery', 'refreshTokenGrant', 'allowInsecureRequests'],
  'jsonpath-plus': ['JSONPath'],
}

const leaveOut: Plugin = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(?:${Object.keys(leftOut).join('|')})$`) }, ({ path: name }) => ({
      path: name,
      namespace: 'left-out',
    }))
    onLoad({ filter: /./, namespace: 'left-out' }, ({ path: name }) => ({
      contents: (leftOut[name] ?? [])
        .map((member) => `export function ${member}() { throw new Error('this program is built without ${name}') }`)
        .join('\n'),
    }))
  },
}

const programs = {
  'controller.ts': 'controller.js',
  'gate/worker.ts': 'isolate.mjs',
  'agent.ts': 'agent.js',
  'tracing/otlp.ts': 'tracing.mjs',
  'controller/page/oidc-provider.ts': 'login.mjs',
}

mkdirSync(folder, { recursive: true })
for (const [entry, file] of Object.entries(programs)) {
  const { metafile, outputFiles } = await build({
    entryPoints: [path.join(root, 'runtime', entry)],
    absWorkingDir: root,
    outfile: path.join(folder, file),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    // Only this one is about people who log in.
    plugins: file === 'login.mjs' ? [dropUnusedClient, plainBuiltins] : [leaveOut, dropUnusedClient, plainBuiltins],
    // Some dependencies are CommonJS and ask for built-in modules by require().
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
    metafile: true,
    write: false,
  })
  for (const { path: name, text } of outputFiles) writeFileSync(name, inAscii(text))
  writeFileSync(path.join(folder, `${file}.meta.json`), JSON.stringify(metafile))
}

/** esbuild escapes what is not ASCII but for expressions and templates with a tag, none of which reads its text as it is written. */
function inAscii(program: string): string {
  return program.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
