/**
 * The history of a real gateway project, commit by commit through the command line.
 */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { confirmDeletionsAnnotation } from '../../runtime/api/names.ts'
import { differences } from '../../scripts/quickstart/check.ts'
import { matchObject } from '../support/assertions.ts'
import { isNeverWritten } from '../support/never-written.ts'
import { cloneBundle, commitsOf, temporaryFolder } from '../support/repository.ts'
import { requires, sharedData } from '../support/requires.ts'
import { leavesSettingsOut } from '../support/real-history.ts'
import { runCli } from '../support/run-cli.ts'
import { writeGatewaySync } from '../support/standalone-run.ts'

void t.test('all commits of a real gateway project arrive byte for byte through the command line', async (t) => {
  const bundle = sharedData(t, 'real/lab04.bundle')
  if (bundle === undefined || !requires(t, 'git')) return
  const folder = temporaryFolder(t, 'replay')
  const repository = cloneBundle(bundle, path.join(folder, 'repository'))
  const commits = commitsOf(repository)
  t.equal(commits.length, 16)
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  const profile = { mappings: [{ source: 'services', destination: '.', required: false }], maxDeletions: '100%' }
  for (const commit of commits) {
    repository.git('branch', '-f', 'replayed', commit)
    const follow = async (annotations: Record<string, string> = {}) => {
      const file = writeGatewaySync(folder, { repo: repository.folder, ref: 'replayed', profile, annotations })
      return await runCli(['run', '-f', file, '--data', dataDir, '--once'])
    }
    if (commit === leavesSettingsOut) matchObject(t, await follow(), { code: 1, stderr: /the only ignition\/security-properties of core/ })
    const result = await follow(commit === leavesSettingsOut ? { [confirmDeletionsAnnotation]: commit } : {})
    t.equal(result.code, 0, `${commit}: ${result.stderr}`)
    const wrong = differences({
      repository: repository.folder,
      commit,
      dataDir,
      placed: [{ source: 'services', destination: '.' }],
      ignored: isNeverWritten,
    })
    t.strictSame(wrong, [], commit)
  }
})
