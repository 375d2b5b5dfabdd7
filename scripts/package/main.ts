/**
 * `npm run package:infra [folder]`: packs the constructs of infra/ and imports/ for cdk8s apps elsewhere, as JavaScript with types.
 * CommonJS, like the app that `cdk8s init typescript-app` creates. Prints the path of the tarball, which is
 * build/cluster-sync-operator-infra-<version>.tgz unless a folder is named.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'
import { valueTypes } from './value-types.ts'

const root = path.resolve(import.meta.dirname, '../..')
const [target = path.join(root, 'build')] = process.argv.slice(2)
/** The app and this package must share one copy of these; otherwise their constructs are incompatible. */
const peers: readonly string[] = ['cdk8s', 'cdk8s-plus-28', 'constructs']
const entry = 'infra/operator-chart.ts'
/** Values that an app may begin with. */
const profile = 'examples/production.ts'

type Manifest = Record<'name' | 'version' | 'description' | 'license', string> & { dependencies: Record<string, string>; engines: object }

const work = mkdtempSync(path.join(tmpdir(), 'cluster-sync-package-'))
try {
  const staged = path.join(work, 'package')
  const groups = readdirSync(path.join(root, 'imports/src')).map((file) => file.replace(/\.ts$/, ''))
  const packages = await compile(staged, groups)
  declare(staged, groups)
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest
  writeFileSync(path.join(staged, 'package.json'), `${JSON.stringify(packageJson(manifest, packages, groups), undefined, 2)}\n`)
  cpSync(path.join(root, 'LICENSE'), path.join(staged, 'LICENSE'))
  cpSync(path.join(root, 'infra/README.md'), path.join(staged, 'README.md'))
  run('npm', ['pack', '--silent', '--pack-destination', work], staged)
  mkdirSync(target, { recursive: true })
  const tarball = path.join(target, `${manifest.name}-infra-${manifest.version}.tgz`)
  cpSync(path.join(work, `${manifest.name}-${manifest.version}.tgz`), tarball)
  process.stdout.write(`${tarball}\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Writes the JavaScript; returns the packages that it imports. */
async function compile(staged: string, groups: readonly string[]): Promise<Set<string>> {
  const common = { format: 'cjs', platform: 'node', target: 'node22.18', logLevel: 'warning' } as const
  const { metafile } = await build({
    ...common,
    entryPoints: [
      { in: path.join(root, entry), out: 'infra/index' },
      { in: path.join(root, profile), out: `profiles/${path.basename(profile, '.ts')}` },
      ...groups.map((group) => ({ in: path.join(root, 'imports/src', `${group}.ts`), out: `imports/${group}` })),
    ],
    outdir: staged,
    bundle: true,
    packages: 'external',
    metafile: true,
  })
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
  return new Set(imports.map(({ path: name }) => name).filter((name) => !isBuiltin(name)))
}

/** Writes the types: those of the entries and what they refer to, as the compiler makes them; those of the values from their schema. */
function declare(staged: string, groups: readonly string[]): void {
  const declared = path.join(work, 'declared')
  const options = [
    '--ignoreConfig --declaration --emitDeclarationOnly --noCheck --target esnext --lib esnext --module nodenext --strict --skipLibCheck',
    '--exactOptionalPropertyTypes --resolveJsonModule --allowImportingTsExtensions --types node --rootDir',
  ].flatMap((line) => line.split(' '))
  run('tsc', [...options, root, '--outDir', declared, entry, profile], root)
  const values = 'infra/values.d.ts'
  write(staged, values, valueTypes())
  const known = new Set([values])
  const copy = (file: string): void => {
    if (known.has(file)) return
    known.add(file)
    const text = readFileSync(path.join(declared, file), 'utf8')
    for (const [, to = ''] of text.matchAll(/from '([.][^']*)\.ts'/g)) copy(path.join(path.dirname(file), `${to}.d.ts`))
    write(staged, file, text.replaceAll(/(from '[.][^']*)\.ts'/g, "$1'"))
  }
  copy(entry.replace(/\.ts$/, '.d.ts'))
  write(staged, 'infra/index.d.ts', "export * from './operator-chart';\nexport type { ValuesInput } from './values';\n")
  cpSync(path.join(declared, profile.replace(/\.ts$/, '.d.ts')), path.join(staged, 'profiles', `${path.basename(profile, '.ts')}.d.ts`))
  for (const group of groups) cpSync(path.join(root, 'imports', `${group}.d.ts`), path.join(staged, 'imports', `${group}.d.ts`))
}

function packageJson(manifest: Manifest, packages: ReadonlySet<string>, groups: readonly string[]): object {
  const { name, version, license, dependencies, engines } = manifest
  const range = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((name) => {
        if (dependencies[name] === undefined) throw new Error(`${name} is not a dependency in package.json`)
        return [name, `^${dependencies[name]}`]
      }),
    )
  const files = ['infra/index', `profiles/${path.basename(profile, '.ts')}`, ...groups.map((group) => `imports/${group}`)]
  const exported = files.map((file) => [`./${file.replace(/\/index$/, '')}`, { types: `./${file}.d.ts`, default: `./${file}.js` }])
  return {
    name,
    version,
    description: 'cdk8s constructs that install the Cluster Sync Operator, and typed constructs of its kinds.',
    license,
    type: 'commonjs',
    engines,
    exports: Object.fromEntries(exported) as object,
    peerDependencies: range(peers),
    dependencies: range([...packages].filter((name) => !peers.includes(name)).toSorted()),
  }
}

function write(folder: string, file: string, text: string): void {
  const full = path.join(folder, file)
  mkdirSync(path.dirname(full), { recursive: true })
  writeFileSync(full, text)
}

function run(command: string, args: readonly string[], cwd: string): void {
  const env = { ...process.env, PATH: `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env['PATH']}` }
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', env })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stdout + stderr}`)
}
