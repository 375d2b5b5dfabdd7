/**
 * Recorded output for users: calls with their output and exit code, except for differences between runs. With
 * `CLUSTER_SYNC_WRITE_TRANSCRIPTS=1` a test rewrites its files.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { makeRepository, type Repository } from './repository.ts'
import { docsPage } from '../../runtime/platform/version.ts'

const example = path.resolve(import.meta.dirname, '../../examples/plant')

/** A GatewaySync of `plant.git` in `<folder>`, where the calls are made. */
export const gatewaySyncText = `apiVersion: clustersync.io/v1alpha1
kind: GatewaySync
metadata: {name: plant}
spec:
  git: {repo: <folder>/plant.git, ref: main}
  polling: {interval: 60s}
  sync:
    profiles:
      default:
        collections: {root: services/config/resources, mode: auto}
        mappings:
          - {source: services/projects, destination: projects}
`

/** The example as a clone `plant` with a branch `broken`, as the bare repository `plant.git`, and a GatewaySync of it. */
export function setUpPlant(folder: string): Repository {
  const plant = makeRepository(path.join(folder, 'plant'))
  cpSync(example, plant.folder, { recursive: true })
  plant.commit({}, 'Add the plant')
  plant.git('checkout', '-q', '-b', 'broken')
  const dev = 'services/config/resources/dev/config-mode.json'
  plant.commit({ [dev]: readFileSync(path.join(example, dev), 'utf8').replace('"core"', '"cor"') }, 'Tidy up')
  plant.git('clone', '-q', '--bare', '.', path.join(folder, 'plant.git'))
  plant.git('checkout', '-q', 'main')
  writeFileSync(path.join(folder, 'gatewaysync.yaml'), gatewaySyncText.replaceAll('<folder>', folder))
  return plant
}

/** Replaces times, durations, hashes, process IDs and the project's home. */
export function ofAnyTime(output: string): string {
  return output
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
    .replaceAll(/\b\d+(?:\.\d)? m?s\b/g, '<duration>')
    .replaceAll(/\b(?:[0-9a-f]{40}|[0-9a-f]{8})\b/g, '<commit>')
    .replaceAll(/\(kill \d+\)/g, '(kill <pid>)')
    .replaceAll(docsPage('docs/'), 'docs/')
}

/** Reasons of transient states of a GatewaySync; the number that a controller observes varies. */
const passing = /^\s*\S+\s+(?:Pending|GatewaysPending|Fetching)\s/

/**
 * Output of kubectl without differences between clusters and moments: ages, names of namespaces, identities, ports, the sequence of events.
 */
export function ofAnyCluster(output: string): string {
  const identified = output
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>')
    .replaceAll(/\b(plant|operator)-[0-9a-f]{8}\b/g, '$1')
  const timeless = ofAnyTime(identified)
    .replaceAll(/\b(Resource Version|Generation|Port): +\d+/g, '$1: <number>')
    .replaceAll(/\bDuration: +\S+/g, 'Duration: <duration>')
    .replaceAll(/\b(Request Digest|Sync Hash): +\S+/g, '$1: <hash>')
    .replaceAll(/\b(localhost|127\.0\.0\.1):\d+/g, '$1:<port>')
    .replaceAll(/\b(Ca Bundle): +\S[^]*?\n\n/g, '$1: <certificate>\n')
    .replaceAll(/\b(?:\d+d)?(?:\d+h)?(?:\d+m)?\d+s\b/g, '<age>')
    .replaceAll(/ \(x\d+ over <age>\)/g, '')
    .replaceAll(/<age> +/g, '<age>  ')
  const [before = '', events] = timeless.split(/^Events:\n/m)
  if (events === undefined) return timeless
  const lines = events
    .split('\n')
    .slice(2)
    .filter((line) => line.trim() !== '' && !passing.test(line))
  const told = [...new Set(lines.map((line) => line.trim().replaceAll(/ {2,}/g, '  ')))].toSorted()
  return `${before}Events:\n${told.map((line) => `  ${line}\n`).join('')}`
}

/** Compares the text with the file; it has no stack trace, and no errno except in brackets after a message. */
export function kept(t: Pick<Test, 'equal' | 'notMatch'>, file: string, text: string): void {
  if (process.env['CLUSTER_SYNC_WRITE_TRANSCRIPTS'] === '1') writeFileSync(file, text)
  t.equal(text, readFileSync(file, 'utf8'))
  t.notMatch(text, /\n {4}at |(?<!\()\b(?:EACCES|ENOENT|EADDRINUSE)\b/, 'no stack and no errno')
}
