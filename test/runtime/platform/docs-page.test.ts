import t from 'tap'
import { docsPage, docsUrl } from '../../../runtime/platform/docs-page.ts'
import { version } from '../../../runtime/platform/version.ts'

void t.test('a page has a URL once package.json names the home of the project', (t) => {
  const page = 'docs/how-to/runbook.md#scanfailed'
  const home = 'https://git.plants.dev/operators/cluster-sync-operator'
  t.equal(docsUrl(page, `git+${home}.git`), `${home}/blob/v${version}/${page}`)
  t.equal(docsUrl(page, 'git+https://git.example.com/cluster-sync/cluster-sync-operator.git'), undefined)
  t.equal(docsPage(page), docsUrl(page) ?? page)
  t.end()
})
