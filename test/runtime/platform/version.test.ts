import t from 'tap'
import { version, docsPage, docsUrl, countSkews } from '../../../runtime/platform/version.ts'

void t.test('a page has a URL once package.json names the home of the project', (t) => {
  const page = 'docs/how-to/runbook.md#scanfailed'
  const home = 'https://git.plants.dev/operators/cluster-sync-operator'
  t.equal(docsUrl(page, `git+${home}.git`), `${home}/blob/v${version}/${page}`)
  t.equal(docsUrl(page, 'git+https://git.example.com/cluster-sync/cluster-sync-operator.git'), undefined)
  t.equal(docsPage(page), docsUrl(page) ?? page)
  t.end()
})

void t.test('agents are counted by their version relative to the controller', async (t) => {
  const theirs = ['1.10.0', '1.10.0', '1.9.9', '1.10.1', '2.0.0', '0.99.99', 'latest', undefined, '', '1.10', '1.10.0-rc.1']
  t.strictSame(countSkews('1.10.0', theirs), { same: 3, older: 2, newer: 2, unknown: 4 })
})

void t.test('without agents every count is zero', async (t) => {
  t.strictSame(countSkews('1.0.0', []), { same: 0, older: 0, newer: 0, unknown: 0 })
})
