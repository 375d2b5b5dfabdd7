import t from 'tap'
import { FileTable } from '../../../../runtime/validation/model/file-table.ts'
import { namesInCollections, namesInProjects } from '../../../../runtime/validation/run/names-elsewhere.ts'

const tableOf = (...paths: string[]): FileTable => FileTable.of(paths.map((path) => ({ path, id: 'a'.repeat(40) })))
const pipelines = 'com.inductiveautomation.alarm-notification/alarm-pipelines'

void t.test('collections have the folded and decoded names of types that others refer to', async (t) => {
  for (const root of ['', 'configuration é']) {
    const at = (path: string): string => (root === '' ? path : `${root}/${path}`)
    const files = tableOf(
      at('core/config-mode.json'),
      at('core/ignition/database-connection/MES/config.json'),
      at('core/ignition/database-connection/MES/resource.json'),
      at('core/ignition/database-connection/a%2Fb%20c/resource.json'),
      at('core/ignition/database-connection/folder/erp/resource.json'),
      at('core/ignition/database-connection/no manifest/config.json'),
      at('core/ignition/database-connection/resource.json'),
      at('core/ignition/database-connections/other type/resource.json'),
      at('core/ignition/schedule/Night/resource.json'),
      at('core/ignition/theme/dark/resource.json'),
      at('core/resource.json'),
      at('Local/ignition/schedule/own/resource.json'),
      at('prod/ignition/schedule/night/resource.json'),
      at('prod/ignition/schedule/Day/resource.json'),
      `${at('prod').replace('prod', 'beside')}/prod/ignition/schedule/elsewhere/resource.json`,
    )
    t.strictSame(
      namesInCollections(files, [root]),
      new Map([
        ['ignition/database-connection', new Set(['mes', 'a/b c', 'folder/erp'])],
        ['ignition/schedule', new Set(['night', 'day'])],
      ]),
      root,
    )
  }
})

void t.test('the names of several complete roots count together', async (t) => {
  const files = tableOf(
    'a/core/config-mode.json',
    'a/core/ignition/schedule/one/resource.json',
    'b/core/config-mode.json',
    'b/core/ignition/schedule/two/resource.json',
    'c/core/ignition/schedule/three/resource.json',
  )
  t.strictSame(namesInCollections(files, ['a', 'b', 'c']), new Map([['ignition/schedule', new Set(['one', 'two'])]]))
  t.equal(namesInCollections(files, ['c']), undefined)
})

void t.test('projects have their own names, and those of pipelines after the project', async (t) => {
  const files = tableOf(
    'projects/Line A/project.json',
    `projects/Line A/${pipelines}/Call/resource.json`,
    'projects/Line A/ignition/schedule/not in projects/resource.json',
    'projects/library/deeper/project.json',
    `projects/library/${pipelines}/folder/e%2Bf/resource.json`,
    'projects/project.json',
  )
  t.strictSame(
    namesInProjects(files, ['projects', '.']),
    new Map([
      [pipelines, new Set(['line a/call', 'library/folder/e+f'])],
      ['project', new Set(['line a'])],
    ]),
  )
  t.equal(namesInProjects(files, ['.']), undefined)
})
