import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { sign } from '../../../../runtime/cli/collections/sign-resources.ts'
import { matchObject } from '../../../support/assertions.ts'
import { config, type Files, resource, root, validTree } from '../../../support/collection-tree.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = new AbortController().signal
const name = 'core/ignition/schedule/day'

function write(folder: string, files: Files): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), content)
  }
}

const rows: [string, string | Uint8Array, RegExp][] = [
  ['a merge conflict', '{\n<<<<<<< HEAD\n"a":1\n=======\n"a":2\n>>>>>>> b\n}', /config\.json contains an unresolved merge conflict/],
  ['zero bytes', Buffer.alloc(20), /only null bytes/],
  ['half a file', '{"a":', /is truncated on line 1/],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), /UTF-16/],
  ['git-crypt', '\0GITCRYPT\0{}', /cannot be signed: .*config\.json is encrypted by git-crypt/],
  ['nothing', '', /is empty/],
  ['a pointer of Git LFS', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n', /Git LFS pointer/],
]

for (const [what, content, why] of rows) {
  void t.test(`${what} in a data file is not signed, and the manifest stays as it is`, async (t) => {
    const folder = temporaryFolder(t, 'sign')
    write(folder, { ...validTree(), ...resource(name, config({ a: 1 })) })
    writeFileSync(path.join(folder, root, name, 'config.json'), content)
    const manifest = path.join(folder, root, name, 'resource.json')
    const before = readFileSync(manifest, 'utf8')
    const { signed, unsigned } = await sign(path.join(folder, root, name), {}, signal)
    t.strictSame(signed, [])
    matchObject(t, unsigned, [{ why }])
    t.equal(readFileSync(manifest, 'utf8'), before)
  })
}

void t.test('a working tree with CRLF is not signed: git stores LF, and a signature covers every byte', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'sign')
  const { git, commit } = makeRepository(folder)
  commit({ ...validTree(), ...resource(name, { 'config.json': '{\n  "a": 1\n}\n', 'data.bin': '\0\r\n' }) })
  const at = path.join(folder, root, name)
  const data = path.join(at, 'config.json')
  git('config', 'core.autocrlf', 'true')
  rmSync(data)
  git('checkout', '--', '.')
  t.equal(readFileSync(data, 'utf8'), '{\r\n  "a": 1\r\n}\r\n', 'as git checks it out on Windows')
  writeFileSync(data, '{\r\n  "a": 2\r\n}\r\n')
  const refused = await sign(at, {}, signal)
  t.strictSame(refused, {
    signed: [],
    unsigned: [
      {
        file: `${root}/${name}/resource.json`,
        why: 'cannot be signed: config.json has Windows line endings (CRLF), which git may store as LF; save it with LF, which git stores unchanged (with core.autocrlf=input, git checks files out with LF), and sign the resource again',
      },
    ],
    right: 0,
  })
  writeFileSync(data, '{\n  "a": 2\n}\n')
  t.equal((await sign(at, {}, signal)).signed.length, 1)
  git('add', '.')
  const stored = temporaryFolder(t, 'stored')
  git('-c', 'core.autocrlf=false', 'checkout-index', '--all', `--prefix=${stored}/`)
  t.strictSame(await sign(path.join(stored, root, name), {}, signal), { signed: [], unsigned: [], right: 1 }, 'what git stores is signed')
})

void t.test('a resource with a duplicate key is signed', async (t) => {
  const folder = temporaryFolder(t, 'sign')
  write(folder, { ...validTree(), ...resource(name, config({ a: 1 })), [`${root}/${name}/config.json`]: '{"a":1,"a":2}' })
  const { signed, unsigned } = await sign(path.join(folder, root, name), {}, signal)
  t.equal(signed.length, 1)
  t.strictSame(unsigned, [])
})
