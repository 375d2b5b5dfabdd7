/**
 * Reads the pages of a checkout and writes the site.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { version } from '../../runtime/platform/version.ts'
import { groups } from './navigation.ts'
import { type Site, siteOf } from './site.ts'

const root = path.resolve(import.meta.dirname, '../..')
const beside = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']
/** Only a folder with this file is replaced by another site. */
const ours = 'assets/sections.js'

/** The site of this checkout. `source`: where its files can be read. */
export function siteOfCheckout(source?: string): Site {
  const names = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => path.join('docs', name))
  const pages = [...beside, ...names.filter((name) => name.endsWith('.md')).toSorted()]
  const decisions = pages.filter((name) => path.dirname(name) === 'docs/explanation/decisions')
  return siteOf({
    pages: new Map(pages.map((name) => [name, readFileSync(path.join(root, name), 'utf8')])),
    exists: (name) => !name.startsWith('..') && existsSync(path.join(root, name)),
    groups: [...groups, { name: 'Decision records', pages: decisions }],
    version,
    source,
  })
}

/**
 * Replaces what an earlier build has left in the folder. Throws when the folder holds something else.
 */
export async function writeSite({ files, pictures }: Site, folder: string): Promise<void> {
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, ours)))
    throw new Error(`${folder} contains files that npm run docs did not write; specify an empty or a new folder`)
  rmSync(folder, { recursive: true, force: true })
  for (const [name, content] of files) writeFileSync(made(path.join(folder, name)), content)
  for (const name of pictures) copyFileSync(path.join(root, name), made(path.join(folder, name)))
  copyFileSync(path.join(import.meta.dirname, 'site.css'), made(path.join(folder, 'assets/site.css')))
  await build({
    entryPoints: [path.join(import.meta.dirname, 'search.mjs')],
    outfile: path.join(folder, 'assets/site.js'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    logLevel: 'warning',
  })
}

function made(file: string): string {
  mkdirSync(path.dirname(file), { recursive: true })
  return file
}
