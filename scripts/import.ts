/**
 * `npm run import -- [--output FOLDER] [GROUP...]`: writes imports/, typed constructs of the project's kinds, of those of cert-manager and of
 * the Prometheus operator, and of Kubernetes kinds that are newer than cdk8s-plus-28. crds/ holds the CRDs that `npx cdk8s import` reads;
 * descriptions are stripped from third-party CRDs. src/ holds the generated TypeScript, which is compiled to JavaScript because Node cannot
 * strip enums.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { parse, stringify } from 'yaml'
import { gatewaySyncCrd, syncReportCrd } from '../infra/crd.ts'
import { group as ownGroup } from '../runtime/api/names.ts'
import { definitionsFrom, type OpenApi } from './import/openapi.ts'

type Definition = { spec: Record<string, unknown> }

const root = path.resolve(import.meta.dirname, '..')
/** Copies of other projects' CRDs that may exist beside this one; read in place. */
const copies = path.resolve(root, '../shared/crds')
const downloadTimeoutMs = 60_000

/** CRDs of other projects: for each group the folder where they are published, and the kinds that an installation uses. */
const foreign: Readonly<Record<string, { home: string; kinds: readonly string[] }>> = {
  'cert-manager.io': {
    // The commit of the CRDs in imports/crds/, which are newer than v1.21.1.
    home: 'https://raw.githubusercontent.com/cert-manager/cert-manager/2d0d7f7f74241a9cbf79f0e2a7bb247238ee09fd/deploy/crds',
    kinds: ['certificates', 'issuers'],
  },
  'monitoring.coreos.com': {
    home: 'https://raw.githubusercontent.com/prometheus-operator/prometheus-operator/v0.93.0/example/prometheus-operator-crd',
    kinds: ['podmonitors', 'prometheusrules', 'servicemonitors'],
  },
}

/** Kubernetes' own kinds that cdk8s-plus-28 does not have yet, as an API server describes them. */
const native = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kinds: ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
  release: 'v1.36.3',
  file: 'api/openapi-spec/v3/apis__admissionregistration.k8s.io__v1_openapi.json',
} as const

const allGroups: readonly string[] = [ownGroup, native.group, ...Object.keys(foreign)]

const usage = `Usage: npm run import -- [--output FOLDER] [GROUP...]

Writes the typed constructs of imports/ again. Run it after a change to a CRD, then run npm run generate.

  --output FOLDER  writes to this folder instead of imports/
  GROUP            ${allGroups.join(', ')} (default: all)
`

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { output: { type: 'string', default: path.join(root, 'imports') }, help: { type: 'boolean', short: 'h', default: false } },
  })
  if (values.help) process.stdout.write(usage)
  else await importGroups(positionals.length > 0 ? positionals : allGroups, path.resolve(values.output))
} catch (error) {
  process.stderr.write(`import: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}

async function importGroups(groups: readonly string[], folder: string): Promise<void> {
  const unknown = groups.find((group) => !allGroups.includes(group))
  if (unknown !== undefined) throw new Error(`unknown group ${unknown}; known groups: ${allGroups.join(', ')}`)
  for (const group of groups) {
    writeDefinitions(folder, group, await definitionsOf(group))
    generate(folder, group)
  }
  compile(folder)
}

async function definitionsOf(group: string): Promise<Definition[]> {
  const source = foreign[group]
  if (source === undefined) return group === native.group ? nativeDefinitions() : [gatewaySyncCrd(), syncReportCrd()]
  const texts = await Promise.all(
    source.kinds.map(async (kind) => read(path.join(copies, `${group}_${kind}.yaml`), `${source.home}/${group}_${kind}.yaml`)),
  )
  return texts.map((text) => slim(parse(text)) as Definition)
}

async function nativeDefinitions(): Promise<Definition[]> {
  const { group, version, kinds, release, file } = native
  // The module from which the tests build their API server has the document too.
  const modules = process.env['GOMODCACHE'] ?? path.join(process.env['GOPATH'] ?? path.join(homedir(), 'go'), 'pkg/mod')
  const copy = path.join(modules, `k8s.io/kubernetes@${release}`, file)
  const text = await read(copy, `https://raw.githubusercontent.com/kubernetes/kubernetes/${release}/${file}`)
  return definitionsFrom(JSON.parse(text) as OpenApi, group, version, kinds).map((definition) => slim(definition) as Definition)
}

/** A copy on this machine, or what is published. */
async function read(copy: string, url: string): Promise<string> {
  if (existsSync(copy)) return readFileSync(copy, 'utf8')
  const answer = await fetch(url, { signal: AbortSignal.timeout(downloadTimeoutMs) }).catch((error: unknown) => {
    const { cause = error } = error as Error
    throw new Error(`${url}: cannot be downloaded: ${cause instanceof Error ? cause.message : String(cause)}`, { cause: error })
  })
  if (!answer.ok) throw new Error(`${url}: answered ${answer.status}`)
  return answer.text()
}

/** Prose, and pods inside of issuers, are most of these schemas. A property that is called `description` stays. */
function slim(value: unknown, keysAreNames = false): unknown {
  if (Array.isArray(value)) return value.map((element) => slim(element))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key]) => keysAreNames || key !== 'description')
  return Object.fromEntries(
    kept.map(([key, inner]) => {
      if (keysAreNames && key === 'podTemplate') return [key, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }]
      return [key, slim(inner, !keysAreNames && key === 'properties')]
    }),
  )
}

/** Writes crds/<group>.yaml, which cdk8s.yaml lists. */
function writeDefinitions(folder: string, group: string, definitions: readonly Definition[]): void {
  const text = definitions.map((definition) => stringify(definition, { aliasDuplicateObjects: false })).join('---\n')
  mkdirSync(path.join(folder, 'crds'), { recursive: true })
  writeFileSync(path.join(folder, 'crds', `${group}.yaml`), text)
}

/** Writes src/<group>.ts, as `npx cdk8s import` does. */
function generate(folder: string, group: string): void {
  const definitions = path.join(folder, 'crds', `${group}.yaml`)
  run('cdk8s', ['import', '--no-save', '--check-upgrade=false', `--output=${path.join(folder, 'src')}`, definitions])
}

function compile(folder: string): void {
  const sources = readdirSync(path.join(folder, 'src')).map((file) => path.join(folder, 'src', file))
  const options = '--ignoreConfig --target es2024 --module nodenext --declaration --skipLibCheck --types node'.split(' ')
  run('tsc', [...options, '--typeRoots', path.join(root, 'node_modules/@types'), '--outDir', folder, ...sources])
}

function run(command: string, args: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync(path.join(root, 'node_modules/.bin', command), args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stdout + stderr}`)
}
