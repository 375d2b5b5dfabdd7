/**
 * How each program of the packed command line starts: an error for a Node that is too old, then the program. In syntax that every Node with
 * modules understands.
 */
export async function start(program) {
  const [major, minor] = process.versions.node.split('.').map(Number)
  // The line 23 is no longer maintained.
  if (major < 22 || (major === 22 && minor < 18) || major === 23) {
    process.stderr.write(`cluster-sync: Node 22.18 or newer is needed, this is ${process.version}\n  next: install it, or use the image\n`)
    process.exit(2)
  }
  await import(program)
}
