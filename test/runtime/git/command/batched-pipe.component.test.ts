import { spawn } from 'node:child_process'
import { closeSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { openBatchedPipe } from '../../../../runtime/git/command/batched-pipe.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'

/** Starts a program whose output goes to a pipe in the folder. */
async function start(folder: string, program: string) {
  const pipe = await openBatchedPipe(folder)
  if (pipe === undefined) throw new Error('there is no pipe')
  const child = spawn('sh', ['-c', program], { stdio: ['ignore', pipe.input, 'ignore'] })
  closeSync(pipe.input)
  return { pipe, child }
}

void t.test('output arrives in order and completely', async (t) => {
  const folder = temporaryFolder(t, 'pipe')
  const { pipe } = await start(folder, 'i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done')
  t.strictSame(readdirSync(folder), [], 'the pipe has no name any more')
  const chunks = await Array.fromAsync(pipe.chunks())
  const desired = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join('')
  t.equal(Buffer.concat(chunks).toString('latin1'), desired)
})

void t.test('many writes between two reads arrive as one chunk', async (t) => {
  const folder = temporaryFolder(t, 'pipe')
  const [go, done] = [path.join(folder, 'go'), path.join(folder, 'done')]
  const many = 'i=0; while [ $i -lt 1000 ]; do echo x; i=$((i+1)); done'
  const { pipe } = await start(folder, `echo first; while [ ! -e ${go} ]; do sleep 0.01; done; ${many}; : > ${done}`)
  const chunks = pipe.chunks()
  t.equal(String((await chunks.next()).value), 'first\n')
  writeFileSync(go, '')
  await until(() => (existsSync(done) ? true : undefined), 'all is written')
  t.strictSame(
    (await Array.fromAsync(chunks)).map((chunk) => chunk.length),
    [2_000],
  )
})

void t.test('a program without output gives no chunks', async (t) => {
  const { pipe } = await start(temporaryFolder(t, 'pipe'), 'true')
  t.strictSame(await Array.fromAsync(pipe.chunks()), [])
})

void t.test('a reader that stops early ends the program at its next write', async (t) => {
  const { pipe, child } = await start(temporaryFolder(t, 'pipe'), 'while echo more; do :; done')
  const ended = new Promise((resolve) => child.once('exit', resolve))
  for await (const chunk of pipe.chunks()) {
    t.ok(chunk.length > 0)
    break
  }
  await ended
})

void t.test('without a pipe the result is undefined', async (t) => {
  const file = path.join(temporaryFolder(t, 'pipe'), 'file')
  writeFileSync(file, '')
  t.equal(await openBatchedPipe(file), undefined)
  t.ok(existsSync(file))
})

void t.test('a worker thread gets no pipe, because Node closes its descriptor numbers at its end even if reused', async (t) => {
  const module = path.join(import.meta.dirname, '../../../../runtime/git/command/batched-pipe.ts')
  const program = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module)
      .then(({ openBatchedPipe }) => openBatchedPipe(workerData.folder))
      .then((pipe) => parentPort.postMessage(pipe === undefined ? 'none' : 'a pipe'))`
  const thread = new Worker(program, { eval: true, workerData: { module, folder: temporaryFolder(t, 'pipe') } })
  const said = await new Promise((resolve, reject) => {
    thread.once('message', resolve)
    thread.once('error', reject)
  })
  t.equal(said, 'none')
  await thread.terminate()
})
