/**
 * Reads the modules of a source folder and their imports, for tests of the code structure.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** `file` and relative `imports` are paths from the root, such as `runtime/platform/fault.ts`; package names stay as written. */
export type Module = { file: string; imports: string[]; typeImports: string[]; text: string }

export function readModules(root: string, folder: string): Module[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.posix.join(folder, name.split(path.sep).join('/')))
    .toSorted()
    .map((file) => readModule(root, file))
}

function readModule(root: string, file: string): Module {
  const text = readFileSync(path.join(root, file), 'utf8')
  const found = [...text.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'/gm)]
  const lazy = [...text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g)]
  const resolve = (name: string): string =>
    name.startsWith('.') ? path.posix.normalize(path.posix.join(path.posix.dirname(file), name)) : name
  return {
    file,
    imports: [...found.filter(([, type]) => type === undefined).map(([, , name = '']) => name), ...lazy.map(([, name = '']) => name)].map(
      resolve,
    ),
    typeImports: found.filter(([, type]) => type !== undefined).map(([, , name = '']) => resolve(name)),
    text,
  }
}

/** The text without comments and string contents, so that only code matches. */
export function codeOf({ text }: Module): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
}
