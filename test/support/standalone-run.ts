/**
 * The input of `cluster-sync run` in tests: a repository, a data directory, and the file with the GatewaySync.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import { makeRepository, temporaryFolder } from './repository.ts'

export type Profile = Record<string, unknown>

export const projects: Profile = { mappings: [{ source: 'projects', destination: 'projects' }] }

/** A folder with an empty data directory and an empty repository. */
export function setUpRun(test: Pick<Test, 'teardown'>, name: string) {
  const folder = temporaryFolder(test, name)
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  return { folder, dataDir, repository: makeRepository(path.join(folder, 'repository')) }
}

type Choices = {
  repo: string
  ref?: string
  name?: string
  profile?: Profile
  spec?: Record<string, unknown>
  /** Members of `spec.git` besides repo and ref. */
  git?: Record<string, unknown>
  annotations?: Record<string, string>
}

/** Writes `gatewaysync.yaml` and returns its path; `spec` has members besides `git` and `sync`. */
export function writeGatewaySync(folder: string, choices: Choices): string {
  const { repo, ref = 'main', name = 'plant', profile = projects, spec = {}, git = {}, annotations = {} } = choices
  const file = path.join(folder, 'gatewaysync.yaml')
  const document = {
    apiVersion: 'clustersync.io/v1alpha1',
    kind: 'GatewaySync',
    metadata: { name, annotations },
    spec: { git: { repo, ref, ...git }, sync: { profiles: { default: profile } }, ...spec },
  }
  writeFileSync(file, stringify(document))
  return file
}
