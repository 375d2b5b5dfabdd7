/**
 * The third-party content of an image: the packages that were bundled into its programs, as an SPDX 2.3 document, and the texts of their
 * licenses. The image's own package database covers the base image and Debian's packages.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A package of node_modules, by its folder below the root. */
export type BundledPackage = { folder: string; name: string; version: string; license: string; integrity: string }

/** The part of esbuild's metafile with the number of bytes of each file in a bundle. */
export type Metafile = { outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> }

type Locked = { version?: string; license?: string; integrity?: string }

/** The packages that the files of some bundles come from, by name and version. Throws where the lockfile does not know one. */
export function bundledPackages(root: string, metafiles: readonly Metafile[]): BundledPackage[] {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> }
  const inputs = metafiles.flatMap(({ outputs }) => Object.values(outputs)).flatMap((output) => Object.entries(output.inputs))
  const folders = new Set(inputs.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? (packageFolder(file) ?? []) : [])))
  return [...folders].toSorted().map((folder) => {
    const locked = packages[folder]
    if (locked?.version === undefined) throw new Error(`package-lock.json has no entry for ${folder}; run npm ci`)
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const { version, license = 'NOASSERTION', integrity = '' } = locked
    return { folder, name, version, license, integrity }
  })
}

/** The folder of the package that holds a file: up to the name after the last `node_modules`. */
export function packageFolder(file: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]
}

/** The document, the same for the same packages: its namespace is made from them, and `created` is given. */
export function spdxDocument(
  program: { name: string; version: string; license: string },
  packages: readonly BundledPackage[],
  created: string,
) {
  const own = {
    SPDXID: 'SPDXRef-Program',
    name: program.name,
    versionInfo: program.version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseDeclared: program.license,
    primaryPackagePurpose: 'APPLICATION',
  }
  const others = packages.map(({ name, version, license, integrity }, index) => ({
    SPDXID: `SPDXRef-Package-${index + 1}`,
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseDeclared: license,
    checksums: checksumOf(integrity),
    externalRefs: [
      { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: `pkg:npm/${name.replace('@', '%40')}@${version}` },
    ],
  }))
  const subject = createHash('sha256')
    .update(JSON.stringify([own, others]))
    .digest('hex')
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${program.name}-${program.version}`,
    documentNamespace: `urn:sha256:${subject}`,
    creationInfo: { created, creators: ['Tool: npm run images'] },
    documentDescribes: [own.SPDXID],
    packages: [own, ...others],
    relationships: others.map(({ SPDXID }) => ({ spdxElementId: own.SPDXID, relationshipType: 'CONTAINS', relatedSpdxElement: SPDXID })),
  }
}

/** One text for all packages, each under its name. A package without its own file is listed with what it declares. */
export function licenseTexts(root: string, packages: readonly BundledPackage[]): string {
  return packages
    .map(({ folder, name, version, license }) => {
      const files = readdirSync(path.join(root, folder)).filter((file) => /^(licen[cs]e|copying|notice)(\.|-|$)/i.test(file))
      const texts = files.toSorted().map((file) => readFileSync(path.join(root, folder, file), 'utf8').trim())
      return [`${name} ${version} (${license})`, ...(texts.length > 0 ? texts : [`Licensed under ${license}.`])].join('\n\n')
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`)
    .concat('\n')
}

function checksumOf(integrity: string): { algorithm: string; checksumValue: string }[] {
  const [, value] = /^sha512-(.+)$/.exec(integrity) ?? []
  return value === undefined ? [] : [{ algorithm: 'SHA512', checksumValue: Buffer.from(value, 'base64').toString('hex') }]
}

/** Throws where the bundles were not made. */
export function readMetafile(file: string): Metafile {
  if (!existsSync(file)) throw new Error(`${file} is missing; run: node scripts/bundle.ts`)
  return JSON.parse(readFileSync(file, 'utf8')) as Metafile
}
