/**
 * `node scripts/bundle.ts [folder]`: builds the programs of the images, in build/ or the given folder:
 *
 *   controller.js   the controller
 *   isolate.mjs     the thread in which it validates commits
 *   login.mjs       loaded by the controller if the status page has a login
 *   agent.js        the agent
 *   tracing.mjs     loaded by controller and agent if tracing is enabled
 *   temporal.mjs    loaded by all of them on a Node without Temporal
 *
 * One file each, because imported code counts toward a process's memory, and so that types are stripped once instead of at every start.
 * All of it is ASCII: V8 keeps the text of a program as long as it runs, and one character beyond Latin-1 doubles its size.
 * <file>.meta.json lists the contents of each.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build, type Plugin } from 'esbuild'
import { dropUnusedClient } from './drop-unused-client.ts'
import { plainBuiltins } from './plain-builtins.ts'

const root = path.resolve(import.meta.dirname, '..')
const folder = path.resolve(process.argv[2] ?? path.join(root, 'build'))

/**
 * Features of client-node that a pod never uses: other connections, proxies of a kubeconfig, and interactive sign-ins. A kubeconfig that
 * needs one gets an error; sources that run unbundled have all of them.
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
  'runtime/controller.ts': 'controller.js',
  'runtime/validation/worker/worker.ts': 'isolate.mjs',
  'runtime/agent.ts': 'agent.js',
  'runtime/telemetry/tracing/otlp.ts': 'tracing.mjs',
  'runtime/controller/page/oidc-provider.ts': 'login.mjs',
  'node_modules/temporal-polyfill/index.js': 'temporal.mjs',
}

mkdirSync(folder, { recursive: true })
for (const [entry, file] of Object.entries(programs)) {
  const { metafile, outputFiles } = await build({
    entryPoints: [path.join(root, entry)],
    absWorkingDir: root,
    outfile: path.join(folder, file),
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node22.18',
    alias: { 'temporal-polyfill': './temporal.mjs' },
    external: ['./temporal.mjs'],
    // Only this bundle contains the login.
    plugins: file === 'login.mjs' ? [dropUnusedClient, plainBuiltins] : [leaveOut, dropUnusedClient, plainBuiltins],
    // Some dependencies are CommonJS and load built-in modules with require().
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
    metafile: true,
    write: false,
  })
  for (const { path: name, text } of outputFiles) writeFileSync(name, inAscii(text))
  writeFileSync(path.join(folder, `${file}.meta.json`), JSON.stringify(metafile))
}

/** esbuild escapes non-ASCII characters except in regular expressions and tagged templates, none of which reads its raw text. */
function inAscii(program: string): string {
  return program.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
