/**
 * `npm run import`: its help, and arguments that it refuses before it writes anything.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

const script = path.resolve(import.meta.dirname, '../../scripts/import.ts')
const groups = 'clustersync.io, admissionregistration.k8s.io, cert-manager.io, monitoring.coreos.com'

void t.test('help and refused arguments write nothing', async (t) => {
  const folder = t.testdir()
  const run = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { cwd: folder, encoding: 'utf8' })
  const help = run('--help')
  t.strictSame([help.status, help.stderr], [0, ''])
  t.match(help.stdout, /^Usage: npm run import -- \[--output FOLDER\] \[GROUP\.\.\.\]\n/)
  const refused = run('--output', 'other', 'example.com')
  t.strictSame([refused.status, refused.stderr], [2, `import: unknown group example.com; known groups: ${groups}\n`])
  const unknown = run('--folder', 'other')
  t.equal(unknown.status, 2)
  t.match(unknown.stderr, /^import: Unknown option '--folder'/)
  t.strictSame(readdirSync(folder), [])
})
