/**
 * How each program of the packed command line starts: the words for a Node that is too old, Temporal where Node has none yet, then the
 * program. In words that every Node with modules understands.
 */
export async function start(program) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  // Of the line 23, which is not kept up any more, only the last releases have what is used.
  if (major < 22 || (major === 22 && minor < 19) || (major === 23 && minor < 11)) {
    process.stderr.write(`cluster-sync: Node 22.19 or newer is needed, this is ${process.version}\n  next: install it, or use the image\n`)
    process.exit(2)
  }
  if (globalThis.Temporal === undefined) await import(new URL('temporal.mjs', import.meta.url).href)
  await import(program)
}
