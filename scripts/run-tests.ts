/**
 * Runs test files, three processes at a time, and writes TAP. Arguments: the seconds that one process may take, then the files. The `tap`
 * command loads its coverage hooks and source maps into each test and each process that a test starts, also when coverage is off, which
 * doubles their CPU time.
 */
import path from 'node:path'
import t from 'tap'

const [seconds = '', ...files] = process.argv.slice(2)
const env = { ...process.env, TAP_TIMEOUT: seconds }
t.jobs = 3
// Each process has its own limit, and their sum has none.
t.setTimeout(0)

/** Unit tests share processes: most of their time would go into loading the same modules. Component tests measure and stop theirs. */
const isUnitTest = (file: string): boolean => !/\.(?:component|slow|suite)\.|^test\/(?:integration|e2e|images)\//.test(file)
const filesPerProcess = 20

const unitTests = files.filter(isUnitTest)
for (let first = 0; first < unitTests.length; first += filesPerProcess) {
  const [name = '', ...others] = unitTests.slice(first, first + filesPerProcess)
  if (others.length === 0) run(name, name)
  else run(`${name} to ${others.at(-1)}`, 'scripts/import-tests.ts', [name, ...others])
}
// After the longest ones, so that all processes end at about the same time.
for (const name of files.filter((file) => !isUnitTest(file))) run(name, name)

function run(name: string, program: string, toImport: readonly string[] = []): void {
  // `t.spawn` sets NODE_OPTIONS to load the hooks.
  const node = [`NODE_OPTIONS=${process.env['NODE_OPTIONS'] ?? ''}`, process.execPath]
  const testFiles = JSON.stringify(toImport.map((file) => path.resolve(file)))
  void t.spawn('env', [...node, program, ...toImport.slice(0, 1)], {
    name,
    env: toImport.length === 0 ? env : { ...env, TEST_FILES: testFiles },
    buffered: true,
    timeout: Number(seconds) * 1000,
    stdio: ['ignore', 'pipe', 'inherit'],
    at: null,
    stack: '',
  })
}
