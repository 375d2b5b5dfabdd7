/**
 * The example plant is a tree as gateways write it: nothing in it is stale, missing or unlisted, and both of its modes start.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { makePlantRepository } from '../../examples/plant.ts'
import { startSimulator } from '../../examples/simulator/simulator.ts'
import { parseStandaloneSync } from '../../runtime/standalone/settings.ts'
import { temporaryFolder } from '../support/repository.ts'

const plant = path.resolve(import.meta.dirname, '../../examples/plant')
const files = readdirSync(plant, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => path.join(entry.parentPath, entry.name))
const manifests = files.filter((file) => path.basename(file) === 'resource.json')

type Manifest = { scope: string; version: number; restricted: boolean; overridable: boolean; files: string[]; attributes: Attributes }
type Attributes = { lastModificationSignature?: string } & Record<string, unknown>

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The signature formula, implemented again so that the test does not rely on the product's own. */
function signatureOf(file: string, manifest: Manifest): string {
  const hash = createHash('sha256')
  const int32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(value)
    return bytes
  }
  hash.update(int32({ G: 1, D: 2, C: 4, A: 7 }[manifest.scope] ?? 0))
  hash.update(int32(manifest.version))
  hash.update(Buffer.from([0, Number(manifest.restricted), Number(manifest.overridable)]))
  for (const name of manifest.files.toSorted()) {
    const content = readFileSync(path.join(path.dirname(file), name))
    hash.update(name).update(createHash('sha256').update(content).digest('hex'))
  }
  const { lastModificationSignature: _signature, ...others } = manifest.attributes
  for (const name of Object.keys(others).toSorted()) hash.update(name).update(JSON.stringify(others[name]))
  return hash.digest('hex')
}

// Resources of projects are unsigned: they stay valid after manual edits, while a scan may skip a resource with a wrong signature.
void t.test('every manifest lists exactly the files beside it; those of collections are signed', (t) => {
  t.ok(manifests.length > 10)
  for (const file of manifests) {
    const manifest = readJson(file) as Manifest
    const beside = readdirSync(path.dirname(file)).filter((name) => name !== 'resource.json')
    t.strictSame(manifest.files.toSorted(), beside.toSorted(), file)
    const signed = file.includes(`${path.sep}projects${path.sep}`) ? undefined : signatureOf(file, manifest)
    t.equal(manifest.attributes.lastModificationSignature, signed, file)
  }
  t.end()
})

void t.test('every collection has a config-mode.json with exactly five keys', (t) => {
  const root = path.join(plant, 'services/config/resources')
  t.strictSame(readdirSync(root).toSorted(), ['core', 'dev', 'external', 'prod'])
  for (const name of readdirSync(root)) {
    const manifest = readJson(path.join(root, name, 'config-mode.json')) as Record<string, unknown>
    t.strictSame(Object.keys(manifest).toSorted(), ['description', 'enabled', 'inheritable', 'parent', 'title'], name)
  }
  t.end()
})

void t.test('a gateway starts with the example plant in both modes', async (t) => {
  const dataDir = temporaryFolder(t, 'plant')
  cpSync(path.join(plant, 'services'), dataDir, { recursive: true })
  for (const mode of ['dev', 'prod']) {
    const simulator = await startSimulator({ dataDir, name: 'gw', mode })
    t.teardown(async () => simulator.stop())
    t.strictSame(simulator.faults(), [], mode)
    t.equal(simulator.reading().effective.get('ignition/database-connection/historian'), mode)
  }
})

void t.test('the GatewaySync of the example is accepted, and its folders exist', (t) => {
  const file = path.join(plant, 'gatewaysync.yaml')
  const { spec } = parseStandaloneSync(readFileSync(file, 'utf8'), file)
  for (const { collections, mappings } of Object.values(spec.sync.profiles)) {
    const roots = [...(collections === undefined ? [] : [collections.root]), ...(mappings ?? []).map(({ source }) => source)]
    t.strictSame(roots, ['services/config/resources', 'services/projects'])
    for (const root of roots) t.ok(readdirSync(path.join(plant, root)).length > 0, root)
  }
  t.end()
})

void t.test('the repository of the example takes commits that write and delete files', async (t) => {
  const folder = temporaryFolder(t, 'plant')
  const repository = await makePlantRepository(folder)
  const hash = await repository.commit({ 'services/projects/line-1/new.txt': 'new\n', 'README.md': null }, 'Change two files')
  const git = (...args: string[]): string => execFileSync('git', ['-C', repository.url, ...args], { encoding: 'utf8' }).trim()
  t.equal(git('rev-parse', 'main'), hash)
  t.equal(git('rev-parse', 'main^'), repository.head)
  t.strictSame(git('diff', '--name-status', 'main^', 'main').split('\n'), ['D\tREADME.md', 'A\tservices/projects/line-1/new.txt'])
})
