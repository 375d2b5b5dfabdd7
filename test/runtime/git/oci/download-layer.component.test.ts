import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import t from 'tap'
import { downloadLayer } from '../../../../runtime/git/oci/download-layer.ts'
import { rejectsWith } from '../../../support/assertions.ts'

const signal = new AbortController().signal

/** A layer of these pieces, as a registry sends it. */
function layerOf(pieces: readonly Buffer[]) {
  const digest = `sha256:${createHash('sha256').update(Buffer.concat(pieces)).digest('hex')}` as const
  const layer = { mediaType: 'application/vnd.oci.image.layer.v1.tar', digest, size: Buffer.concat(pieces).length, annotations: {} }
  const openBlob = async () => {
    return (async function* () {
      yield* pieces
    })()
  }
  return { registry: { openBlob }, host: 'registry.example', layer }
}

void t.test('a layer can be read repeatedly, and its pieces are released once they are on the disk', async (t) => {
  const folder = t.testdir()
  const pieces = [Buffer.alloc(70_000, 'a'), Buffer.alloc(70_000, 'b')]
  const text = Buffer.concat(pieces).toString()
  const layer = await downloadLayer(layerOf(pieces), folder, signal)
  for (const attempt of ['first', 'second'])
    t.equal(Buffer.concat(await Array.fromAsync(layer.content())).toString() === text, true, attempt)
  t.strictSame(
    pieces.map(({ length }) => length),
    [0, 0],
  )
  t.strictSame(readdirSync(folder), [])
  await layer.close()
})

void t.test('a layer is refused unless it has the size and the digest of the manifest', async (t) => {
  const why = { reason: 'RepositoryRefused', message: /^registry\.example sent a layer that does not have the digest sha256:/ }
  for (const size of [2, 4]) {
    const sent = layerOf([Buffer.alloc(3, 'a')])
    await rejectsWith(t, downloadLayer({ ...sent, layer: { ...sent.layer, size } }, t.testdir(), signal), why)
  }
  const other = layerOf([Buffer.alloc(3, 'b')]).registry
  await rejectsWith(t, downloadLayer({ ...layerOf([Buffer.alloc(3, 'a')]), registry: other }, t.testdir(), signal), why)
})
