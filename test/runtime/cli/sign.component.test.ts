import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { sign } from '../../../runtime/cli/collections/sign-resources.ts'
import { config, type Files, resource, root, validTree } from '../../support/collection-tree.ts'
import { temporaryFolder } from '../../support/repository.ts'

const signal = new AbortController().signal
const name = 'core/ignition/schedule/day'

function write(folder: string, files: Files): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), content)
  }
}

const rows: [string, string | Uint8Array, RegExp][] = [
  ['a merge conflict', '{\n<<<<<<< HEAD\n"a":1\n=======\n"a":2\n>>>>>>> b\n}', /config\.json holds an unresolved merge conflict/],
  ['zero bytes', Buffer.alloc(20), /only zero bytes/],
  ['half a file', '{"a":', /ends before it is complete/],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), /UTF-16/],
  ['nothing', '', /is empty/],
  ['a pointer of Git LFS', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n', /pointer of Git LFS/],
]

for (const [what, content, why] of rows) {
  void t.test(`${what} in a data file is not signed, and the manifest stays as it is`, async (t) => {
    const folder = temporaryFolder(t, 'sign')
    write(folder, { ...validTree(), ...resource(name, config({ a: 1 })) })
    writeFileSync(path.join(folder, root, name, 'config.json'), content)
    const manifest = path.join(folder, root, name, 'resource.json')
    const before = readFileSync(manifest, 'utf8')
    const { signed, unsigned } = await sign(path.join(folder, root, name), {}, signal)
    t.same(signed, [])
    t.match(unsigned, [{ why }])
    t.equal(readFileSync(manifest, 'utf8'), before)
  })
}

void t.test('a key that occurs twice does not keep a resource from being signed', async (t) => {
  const folder = temporaryFolder(t, 'sign')
  write(folder, { ...validTree(), ...resource(name, config({ a: 1 })), [`${root}/${name}/config.json`]: '{"a":1,"a":2}' })
  const { signed, unsigned } = await sign(path.join(folder, root, name), {}, signal)
  t.equal(signed.length, 1)
  t.same(unsigned, [])
})
