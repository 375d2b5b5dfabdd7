/**
 * `node test/cluster/build.ts`: builds what is missing of the programs of a control plane and, where one can run, of a node, and prints where
 * each is.
 */
import { controlPlanePrograms, ensureProgram, nodePrograms } from './binaries.ts'
import { whyNoNode } from './node/probe.ts'

const why = await whyNoNode()
if (why !== undefined) process.stderr.write(`no programs of a node, as none can run here: ${why}\n`)
for (const name of why === undefined ? nodePrograms : controlPlanePrograms) {
  const file = await ensureProgram(name, (line) => process.stderr.write(`${line}\n`))
  process.stdout.write(`${name} ${file}\n`)
}
