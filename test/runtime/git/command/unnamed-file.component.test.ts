import { closeSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import t from 'tap'
import { throwsError } from '../../../support/assertions.ts'
import { createUnnamedFile, openUnnamedFile } from '../../../../runtime/git/command/unnamed-file.ts'

void t.test('a file without a name can be read and not written', async (t) => {
  const folder = t.testdir()
  for (const content of ['text', Buffer.alloc(300_000, 7), '']) {
    const file = openUnnamedFile(folder, content)
    t.strictSame(readdirSync(folder), [])
    throwsError(t, () => writeSync(file, 'x'), { code: 'EBADF' })
    t.strictSame(readFileSync(file), Buffer.from(content))
    closeSync(file)
  }
})

void t.test('a new file without a name can be written and read', async (t) => {
  const folder = t.testdir()
  const file = await createUnnamedFile(folder)
  t.strictSame(readdirSync(folder), [])
  await file.write('text')
  t.equal((await file.read(Buffer.alloc(9), 0, 9, 0)).buffer.toString('utf8', 0, 4), 'text')
  await file.close()
})

void t.test('the content can be opened by the number of the descriptor in /dev/fd', { skip: process.platform !== 'linux' }, async (t) => {
  const file = openUnnamedFile(t.testdir(), 'secret\n')
  // Twice: each open starts at the beginning.
  t.equal(readFileSync(`/dev/fd/${file}`, 'utf8'), 'secret\n')
  t.equal(readFileSync(`/proc/self/fd/${file}`, 'utf8'), 'secret\n')
  closeSync(file)
})

void t.test('a folder that does not exist is an error', async (t) => {
  throwsError(t, () => openUnnamedFile(`${t.testdir()}/none`, ''), { code: 'ENOENT' })
})
