/**
 * Copies the synthesized manifests to their folder after all of them have been written, so that invalid values change nothing there.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The suffix of cdk8s file names. All other files in a folder belong to the user. */
const suffix = '.k8s.yaml'

/** Replaces each file atomically and removes those of charts that no longer exist. Returns the paths written. */
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
