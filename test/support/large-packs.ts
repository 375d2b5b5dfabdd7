/**
 * Repositories with large packs, at a git host with TLS: random contents, which do not compress, and similar texts, which git stores as
 * deltas.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { gitEnvironment, type Repository } from './repository.ts'

export const mebibyte = 1024 * 1024

/** Packs of random contents, by file size. */
export const packs = {
  'few large files': { totalBytes: 100 * mebibyte, fileBytes: 5 * mebibyte },
  'many small files': { totalBytes: 100 * mebibyte, fileBytes: 4096 },
  'one file': { totalBytes: 100 * mebibyte, fileBytes: 100 * mebibyte },
} as const

const filesPerFolder = 10

/** Commits random contents to the branch main of an empty repository; returns the commit. */
export async function commitRandom(
  repository: Repository,
  { totalBytes, fileBytes }: { totalBytes: number; fileBytes: number },
): Promise<string> {
  return await importFiles(repository, totalBytes / fileBytes, () => randomBytes(fileBytes))
}

/** Commits two texts of that size that differ in one line, one stored as a delta of the other; returns the commit. */
export async function commitSimilar(repository: Repository, fileBytes: number): Promise<string> {
  const line = 'a line of a text that comes again and again, and never quite\n'
  const text = Buffer.from(Array.from({ length: fileBytes / line.length }, (_, index) => `${index} ${line}`).join(''))
  const other = Buffer.concat([Buffer.from('another first line\n'), text])
  const commit = await importFiles(repository, 2, (index) => (index === 0 ? text : other))
  repository.git('config', '--unset', 'core.bigFileThreshold')
  repository.git('repack', '-q', '-a', '-d', '-f')
  return commit
}

async function importFiles({ folder, git }: Repository, files: number, contentOf: (index: number) => Buffer): Promise<string> {
  // Keeps the host from searching for deltas between random contents.
  git('config', 'core.bigFileThreshold', '1m')
  const input = ['-c', 'core.compression=0', 'fast-import', '--quiet']
  const child = spawn('git', ['-C', folder, ...input], { env: gitEnvironment, stdio: ['pipe', 'ignore', 'inherit'] })
  const ended = once(child, 'close')
  const write = async (chunk: string | Buffer): Promise<void> => {
    if (!child.stdin.write(chunk)) await once(child.stdin, 'drain')
  }
  await write('commit refs/heads/main\ncommitter Plant <plant@example.com> 1768464000 +0000\ndata 0\n')
  for (let index = 0; index < files; index += 1) {
    const content = contentOf(index)
    await write(`M 100644 inline projects/${Math.floor(index / filesPerFolder)}/${index}.bin\ndata ${content.length}\n`)
    await write(content)
    await write('\n')
  }
  child.stdin.end()
  await ended
  return git('rev-parse', 'main').toString('utf8').trim()
}
