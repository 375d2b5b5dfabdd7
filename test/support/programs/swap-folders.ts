/**
 * `swap-folders.ts <folder> <link target>`: replaces a folder with a link to another one and back, as fast as possible, until its stdin
 * ends. A program in a gateway's container could do this while an agent writes.
 */
import { lstatSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'

const [folder = '', target = ''] = process.argv.slice(2)
let running = true
process.stdin.on('end', () => (running = false)).resume()
process.stdout.write('.')
let swaps = 0

function swap(): void {
  try {
    renameSync(folder, `${folder}.aside`)
    symlinkSync(target, folder)
    unlinkSync(folder)
    renameSync(`${folder}.aside`, folder)
    swaps += 1
  } catch {
    // The agent may have just moved it.
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true) unlinkSync(folder)
    if (
      lstatSync(folder, { throwIfNoEntry: false }) === undefined &&
      lstatSync(`${folder}.aside`, { throwIfNoEntry: false }) !== undefined
    ) {
      renameSync(`${folder}.aside`, folder)
    }
  }
}

function some(): void {
  for (let count = 0; count < 100 && running; count += 1) swap()
  if (running) setImmediate(some)
  else process.stdout.write(String(swaps))
}
some()
