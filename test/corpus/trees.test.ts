import t from 'tap'
import { lintOf } from './findings.ts'
import { trees } from './trees.ts'

for (const { name, files, findings } of trees) {
  void t.test(name, async (t) => {
    const found = await lintOf(files)
    t.strictSame(
      found.map(({ severity, rule, path, message }) => `${severity} ${rule} ${path}: ${message}`),
      findings,
    )
  })
}
