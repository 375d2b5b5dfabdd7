/**
 * Brings synthesised manifests to where they are kept, once all of them are there: a refused value leaves what was there before.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** What cdk8s names its files; everything else in a folder is somebody else's. */
const suffix = '.k8s.yaml'

/** Each file takes the place of its predecessor at once; those of charts that are no more go. Returns the paths written. */
export function publishManifests(from: string, to: string): string[] {
  const made = manifestsIn(from)
  mkdirSync(to, { recursive: true })
  for (const name of made) {
    const temporary = path.join(to, `.${name}.${process.pid}`)
    writeFileSync(temporary, readFileSync(path.join(from, name)))
    renameSync(temporary, path.join(to, name))
  }
  for (const name of manifestsIn(to)) if (!made.includes(name)) rmSync(path.join(to, name))
  return made.map((name) => path.join(to, name))
}

function manifestsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
    .toSorted()
}
