/**
 * `node test/cluster/build.ts`: builds the missing programs of a control plane and, where one can run, of a node, and prints their paths.
 * On a slow machine the tests need the remaining time of the test run, so no build of a node program starts late.
 */
import { controlPlanePrograms, ensureProgram, findProgram, nodePrograms } from './binaries.ts'
import { whyNoNode } from './node/probe.ts'

const latestMs = 25 * 60_000

const why = await whyNoNode({ mayBuild: true })
if (why !== undefined) process.stderr.write(`no programs of a node, as none can run here: ${why}\n`)
for (const name of why === undefined ? nodePrograms : controlPlanePrograms) {
  const isOptional = !controlPlanePrograms.some((needed) => needed === name)
  if (isOptional && findProgram(name) === undefined && performance.now() > latestMs) {
    process.stderr.write(`${name} is not built: building has taken ${Math.round(performance.now() / 60_000)} minutes\n`)
    continue
  }
  try {
    const file = await ensureProgram(name, (line) => process.stderr.write(`${line}\n`))
    process.stdout.write(`${name} ${file}\n`)
  } catch (error) {
    // Tests of a node report missing programs and are skipped. Without a control plane most tests would check nothing.
    if (!isOptional) throw error
    process.stderr.write(`${name} is not built: ${String(error)}\n`)
  }
}
