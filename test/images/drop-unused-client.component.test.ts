/**
 * What the bundles leave out of client-node, and only of it.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import t from 'tap'
import { dropUnusedClient } from '../../scripts/drop-unused-client.ts'
import { temporaryFolder } from '../support/repository.ts'

void t.test('a bundle drops the unused code of client-node and keeps every other import, also in a folder of that name', async (t) => {
  const folder = path.join(temporaryFolder(t, 'client-node'), 'client-node')
  const packageFolder = path.join(folder, 'node_modules/@kubernetes/client-node')
  mkdirSync(packageFolder, { recursive: true })
  writeFileSync(path.join(packageFolder, 'index.js'), `export { used } from './used.js'\nexport { unused } from './unused.js'`)
  writeFileSync(path.join(packageFolder, 'used.js'), `export const used = console.log('used')`)
  writeFileSync(path.join(packageFolder, 'unused.js'), `export const unused = console.log('unused')`)
  writeFileSync(path.join(folder, 'polyfill.ts'), `console.log('polyfill')`)
  const entry = path.join(folder, 'program.ts')
  writeFileSync(entry, `import './polyfill.ts'\nimport { used } from '@kubernetes/client-node'\nexport default used`)
  const options = { bundle: true, platform: 'node', format: 'esm', write: false, logLevel: 'silent' } as const
  const { outputFiles } = await build({ ...options, entryPoints: [entry], plugins: [dropUnusedClient] })
  const program = outputFiles.map(({ text }) => text).join('\n')
  t.strictSame(program.match(/(?<=console\.log\(")\w+/g), ['polyfill', 'used'])
})
