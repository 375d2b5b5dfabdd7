/**
 * The command line as JavaScript for Node 22.18 and newer, for its package and its image.
 */
import { chmodSync, cpSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { dropUnusedClient } from '../../drop-unused-client.ts'
import type { Metafile } from '../../images/sbom.ts'

const root = path.resolve(import.meta.dirname, '../../..')

/** The parts of each program. The name of the last is that by which the command line loads it. */
const sources = {
  cli: 'runtime/cli.ts',
  validation: 'runtime/validation/worker/worker.ts',
  tracing: 'runtime/telemetry/tracing/otlp.ts',
}
/** Programs that a process or thread starts with, and what each loads next. */
const starts = { 'cluster-sync': './cli.mjs', isolate: './validation.mjs' }

/** Writes the programs to a folder, in pieces that are loaded when a command needs them; `cluster-sync.mjs` is the first. Returns what they are made of. */
export async function compileCli(folder: string): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: Object.entries(sources).map(([out, file]) => ({ in: path.join(root, file), out })),
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node22.18',
    outExtension: { '.js': '.mjs' },
    chunkNames: '[name]-[hash]',
    plugins: [dropUnusedClient],
    // Some dependencies are CommonJS and load built-in modules with require().
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
    metafile: true,
  })
  cpSync(path.join(root, 'scripts/package/cli/start.mjs'), path.join(folder, 'start.mjs'))
  for (const [name, program] of Object.entries(starts)) {
    const file = path.join(folder, `${name}.mjs`)
    writeFileSync(file, `#!/usr/bin/env node\nimport { start } from './start.mjs'\nawait start('${program}')\n`)
    chmodSync(file, 0o755)
  }
  return metafile
}
