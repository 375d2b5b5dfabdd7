import t from 'tap'
import { objectId, parseTag, splitCommit } from '../../../../runtime/git/verify/signed-object.ts'

const tree = `tree ${'a'.repeat(40)}`
const parent = `parent ${'b'.repeat(40)}`
const author = 'author Ann <ann@example.com> 1700000000 +0000'
const committer = 'committer Ben <ben@example.com> 1700000000 +0000'
const armor = '-----BEGIN PGP SIGNATURE-----\n\nMTIz\n-----END PGP SIGNATURE-----'
const signature = `gpgsig ${armor.replaceAll('\n', '\n ')}`
const malformed = { kind: 'refused', why: 'has a header that is not well formed' }

const commit = (head: readonly string[], body = '\n\nFirst\n') => Buffer.from(`${head.join('\n')}${body}`, 'latin1')
const split = (head: readonly string[], body?: string) => splitCommit(commit(head, body), 'sha1')

void t.test('a commit is split into its signature and all of its other bytes', async (t) => {
  const plain = [tree, parent, parent, author, committer]
  t.strictSame(split(plain), { kind: 'unsigned' })
  t.strictSame(split([tree, author, committer], '\n\n'), { kind: 'unsigned' }, 'without a parent and a message')
  for (let at = 1; at <= plain.length; at += 1) {
    const signed = { payload: commit(plain), armor }
    t.strictSame(split(plain.toSpliced(at, 0, signature)), { kind: 'signed', signed }, `behind ${at} headers`)
  }
  const more = [...plain, 'encoding latin1', 'mergetag object 1\n type commit', 'x-0:y \xe9']
  const body = '\n\nM\xfcnchen\n\ngpgsig none\0\n'
  t.strictSame(split([...more, signature], body), { kind: 'signed', signed: { payload: commit(more, body), armor } }, 'other headers')
  const wide = [tree, parent, author, committer].map((line) => line.replace(/[ab]{40}/, (id) => id + 'c'.repeat(24)))
  t.strictSame(splitCommit(commit([...wide, signature.replace('gpgsig', 'gpgsig-sha256')]), 'sha256'), {
    kind: 'signed',
    signed: { payload: commit(wide), armor },
  })
  t.strictSame(splitCommit(commit(wide), 'sha1'), malformed, 'an id of the other object format')
  for (const id of [`x${'a'.repeat(64)}`, 'a'.repeat(65)])
    t.strictSame(splitCommit(commit(wide.with(0, `tree ${id}`)), 'sha256'), malformed, id)
  const folded = [...plain, signature, 'encoding a\n b']
  t.strictSame(split(folded), { kind: 'signed', signed: { payload: commit(folded.toSpliced(-2, 1)), armor } })
})

void t.test('a commit that git could read in two ways is refused', async (t) => {
  const head = [tree, author, committer]
  const rows: [string, string[], string?][] = [
    ['nothing', [], ''],
    ['no empty line', head, '\n'],
    ['no newline', head, ''],
    ['two trees', [tree, tree, author, committer]],
    ['no tree', [author, committer]],
    ['no author', [tree, committer]],
    ['two authors', [tree, author, author, committer]],
    ['no committer', [tree, author]],
    ['two committers', [tree, author, committer, committer]],
    ['the tree not first', [author, tree, committer]],
    ['a short tree', [tree.slice(0, -1), author, committer]],
    ['a long tree', [`${tree}a`, author, committer]],
    ['something before the hash of the tree', [tree.replace(' ', ' x'), author, committer]],
    ['a parent in upper case', [tree, parent.toUpperCase().replace('PARENT', 'parent'), author, committer]],
    ['a line that goes on before any header', [' tree', ...head]],
    ['a header without a value', [...head, 'encoding']],
    ['a header without a name', [...head, '0 x']],
    ['a name with another character', [...head, 'a_b x']],
    ['a name behind another character', [...head, '_b x']],
    ['a NUL', [...head, 'encoding a\0b']],
  ]
  for (const [name, lines, body] of rows) t.strictSame(split(lines, body), malformed, name)
  const twice = { kind: 'refused', why: 'carries more than one signature' }
  t.strictSame(split([...head, signature, signature]), twice)
  t.strictSame(split([...head, signature, signature.replace('gpgsig', 'gpgsig-sha256')]), twice)
  const other = { kind: 'refused', why: 'carries a signature of another object format' }
  for (const name of ['gpgsig-sha256', 'gpgsig-other']) t.strictSame(split([...head, signature.replace('gpgsig', name)]), other, name)
})

const object = `object ${'a'.repeat(40)}`
const tagHead = [object, 'type commit', 'tag v1', 'tagger Ann <ann@example.com> 1700000000 +0000']
const tag = (head: readonly string[], body = '\n\nOne\n') => parseTag(Buffer.from(`${head.join('\n')}${body}`, 'latin1'), 'sha1')
const found = { kind: 'tag', object: 'a'.repeat(40), type: 'commit', name: 'v1' }

void t.test('a tag names its target, and its signature ends it', async (t) => {
  t.strictSame(tag(tagHead), { ...found, split: { kind: 'unsigned' } })
  const body = '\n\nM\xfcnchen -----BEGIN \n'
  const payload = Buffer.from(`${tagHead.join('\n')}${body}`, 'latin1')
  t.strictSame(tag(tagHead, `${body}${armor}\n`), { ...found, split: { kind: 'signed', signed: { payload, armor: `${armor}\n` } } })
  t.strictSame(tag([object, 'type tree', 'tag a/b', tagHead[3] ?? '']), {
    ...found,
    type: 'tree',
    name: 'a/b',
    split: { kind: 'unsigned' },
  })
  const twice = { kind: 'refused', why: 'carries more than one signature' }
  t.strictSame(tag(tagHead, `${body}${armor}\n${armor}\n`), { ...found, split: twice })
})

void t.test('a tag with other headers than git writes is refused', async (t) => {
  for (const [at, line] of tagHead.entries()) {
    t.strictSame(tag(tagHead.toSpliced(at, 1)), malformed, `without ${line}`)
    t.strictSame(tag(tagHead.toSpliced(at, 1, `x${line}`)), malformed, `another name than ${line}`)
    t.strictSame(tag(tagHead.toSpliced(at, 1, `${line}\n more`)), malformed, `a second line of ${line}`)
  }
  t.strictSame(tag(tagHead.with(0, `${object}a`)), malformed, 'an id that is too long')
  t.strictSame(tag(tagHead, '\n'), malformed, 'no empty line')
  t.strictSame(tag([]), malformed, 'nothing')
  t.strictSame(tag([...tagHead, 'gpgsig x']), { kind: 'refused', why: 'has the header gpgsig, which is not a header of git tags' })
})

void t.test('the id of an object is the hash of its type, its length and its bytes', async (t) => {
  // From `git hash-object --literally`.
  t.equal(objectId('commit', Buffer.alloc(0), 'sha1'), 'dcf5b16e76cce7425d0beaef62d79a7d10fce1f5')
  t.equal(objectId('tag', Buffer.alloc(0), 'sha1'), 'd994c6bb648123a17e8f70a966857c546b2a6f94')
  t.equal(objectId('commit', Buffer.from('x'), 'sha256'), '8a2adfb91065d9e72cb3ba9651046ab438975b8757d620acb840465717b39299')
})
