/**
 * Reads the manifest of an artifact as `flux push artifact` writes it, and that of cosign's signatures. Pure.
 */
import { type Digest, isDigest } from '../../api/artifact-revision.ts'
import { printable } from '../../api/values.ts'
import { Fault } from '../../platform/fault.ts'
import { parseBody } from '../../http/body.ts'
import { isObject, type Complexity } from '../../platform/text/json.ts'
/** The types of manifests with layers, for the header Accept; a registry may answer with another type that it has. */
export const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ')

/** A blob of a registry. */
export type Layer = { mediaType: string; digest: Digest; size: number; annotations: Readonly<Record<string, string>> }

/** `created`: seconds since 1970, 0 if unknown. `revision`: of the source that the artifact was made from, as its author names it. */
export type Artifact = { layer: Layer; created: number; revision: string | undefined }

const signatureLayer = 'application/vnd.dev.cosign.simplesigning.v1+json'
const signatureAnnotation = 'dev.cosignproject.cosign/signature'
/** Each is verified with each key. */
const maxSignatures = 20

/** Throws RepositoryRefused for anything but one layer that is a tar archive. */
export function readArtifact(manifest: Buffer): Artifact {
  const document = parsed(manifest)
  if (isObject(document) && Array.isArray(document['manifests']))
    throw refused('is an index of several manifests, as multi-platform images have; follow an artifact with one manifest')
  const layers = layersOf(document)
  const [layer] = layers
  if (layer === undefined || layers.length !== 1)
    throw refused(`has ${layers.length} layers; only one is accepted, as flux push artifact creates it`)
  if (!/[.+]tar(?:[.+]gzip)?$/.test(layer.mediaType))
    throw refused(`has a layer of the type "${printable(layer.mediaType)}", which is neither tar nor tar+gzip`)
  const { 'org.opencontainers.image.created': created = '', 'org.opencontainers.image.revision': revision } = annotationsOf(document)
  return { layer, created: secondsOf(created), revision: revision === undefined ? undefined : printable(revision) }
}

/** A signature of cosign, in base64, and the blob with the signed text. */
export type Signature = { payload: Layer; base64: string }

/** The signatures in a manifest of cosign; other layers are ignored. Throws RepositoryRefused for anything but a manifest. */
export function readSignatures(manifest: Buffer): Signature[] {
  const layers = layersOf(parsed(manifest))
  const found = layers.flatMap((payload) => {
    const base64 = payload.mediaType === signatureLayer ? payload.annotations[signatureAnnotation] : undefined
    return base64 === undefined ? [] : [{ payload, base64 }]
  })
  return found.slice(0, maxSignatures)
}

/** Far more than an artifact and its signatures need: a registry must not fill the controller's memory. */
const complexity: Complexity = { depth: 16, keys: 2_000, containers: 1_000, entries: 5_000 }

function parsed(manifest: Buffer): unknown {
  const body = parseBody(manifest, complexity)
  return body.kind === 'json' ? body.value : undefined
}

function layersOf(document: unknown): Layer[] {
  const layers = isObject(document) ? document['layers'] : undefined
  if (!Array.isArray(layers)) throw refused('has no manifest with layers')
  return layers.map((layer: unknown) => {
    const { mediaType, digest, size } = isObject(layer) ? layer : {}
    if (typeof mediaType !== 'string' || typeof digest !== 'string' || !isDigest(digest) || !Number.isSafeInteger(size) || Number(size) < 0)
      throw refused('has a layer without type, size and SHA-256 digest')
    return { mediaType, digest, size: Number(size), annotations: annotationsOf(layer) }
  })
}

function annotationsOf(value: unknown): Record<string, string> {
  const annotations = isObject(value) ? value['annotations'] : undefined
  const entries = isObject(annotations) ? Object.entries(annotations) : []
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

/** Seconds that every git can read; 0 for anything else, because the same artifact must always be the same commit. */
function secondsOf(time: string): number {
  const seconds = Math.floor(Date.parse(time) / 1000)
  return Number.isSafeInteger(seconds) && seconds > 0 && seconds < 2 ** 32 ? seconds : 0
}

/** Worded to follow `the artifact`. */
function refused(why: string): Fault {
  return new Fault('RepositoryRefused', `the artifact ${why}`)
}
