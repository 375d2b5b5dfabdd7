/**
 * The webhook receiver of a run without a key: web pages in a local browser and other machines cannot send pushes to it.
 */
import * as http from 'node:http'
import { networkInterfaces } from 'node:os'
import t, { type Test } from 'tap'
import { requires } from '../support/requires.ts'
import { startCli } from '../support/run-cli.ts'
import { setUpRun, writeGatewaySync } from '../support/standalone-run.ts'
import { until } from '../support/world.ts'

const json = { 'content-type': 'application/json' }

async function startOpenRun(t: Test, ...more: string[]) {
  const { folder, dataDir, repository } = setUpRun(t, 'open-receiver')
  repository.commit({ 'projects/a.txt': '1' })
  const file = writeGatewaySync(folder, { repo: repository.folder, spec: { polling: { enabled: false } } })
  const run = startCli(t, ['run', '-f', file, '--target', `name=press,data=${dataDir}`, '--receiver-port', '0', ...more])
  t.teardown(async () => run.stop())
  const port = await until(() => /POST http:\/\/[^ ]*:(\d+)\/webhook/.exec(run.output())?.[1], 'its address is printed')
  /** The status of a push, or the code of the error that ended it. */
  const push = (headers: Record<string, string>, address = '127.0.0.1', body = '{"ref":"main"}'): Promise<number | string> =>
    new Promise((resolve) => {
      const request = http.request({ host: address, port, path: '/webhook/default/plant', method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
      request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      request.end(body)
    })
  return { push, port }
}

/** An address of this machine that other machines can reach. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((each) => each !== undefined && !each.internal && each.family === 'IPv4')?.address

void t.test('only a JSON call to a local host name that does not come from a web page is accepted', async (t) => {
  if (!requires(t, 'git')) return
  const { push, port } = await startOpenRun(t)
  t.equal(await push(json), 202)
  t.equal(await push({ ...json, host: `localhost:${port}` }), 202)
  t.equal(await push({ ...json, host: `evil.example:${port}` }), 421)
  t.equal(await push({ ...json, origin: 'https://evil.example' }), 403)
  t.equal(await push({ ...json, 'sec-fetch-site': 'cross-site' }), 403)
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])
    t.equal(await push({ 'content-type': type }, '127.0.0.1', `payload=${encodeURIComponent('{"ref":"main"}')}`), 415, type)
  t.equal(await push({}), 415, 'no type at all')
})

const skip = outside === undefined ? 'this machine has no address but localhost' : false

void t.test('the receiver listens on localhost, unless --receiver-host names another address', { skip }, async (t) => {
  if (!requires(t, 'git')) return
  const { push } = await startOpenRun(t)
  t.equal(await push(json, outside), 'ECONNREFUSED')
  const wide = await startOpenRun(t, '--receiver-host', '0.0.0.0')
  t.equal(await wide.push(json, outside), 202)
  t.equal(await wide.push({ ...json, origin: 'https://evil.example' }, outside), 403)
})
