/**
 * How each program of the packed command line starts: the words for a Node that is too old, Temporal where Node has none yet, then the
 * program. In words that every Node with modules understands.
 */
export async function start(program) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 15)) {
    process.stderr.write(`cluster-sync: Node 22.15 or newer is needed, this is ${process.version}\n  next: install it, or use the image\n`)
    process.exit(2)
  }
  if (globalThis.Temporal === undefined) await import(new URL('temporal.mjs', import.meta.url).href)
  await import(program)
}
