import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { anonymousBytes } from '../../../../runtime/git/command/process-memory.ts'

const mebibyte = 1024 * 1024

void t.test('the memory of a process includes that of its helpers', async (t) => {
  const holder = 'x=$(head -c 20971520 /dev/zero | tr "\\0" x); echo held; read -r _'
  const child = spawn('sh', ['-c', `(${holder}); true`], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const bytes = anonymousBytes(child.pid ?? 0)
  t.ok(bytes >= 20 * mebibyte, `${bytes / mebibyte} MiB`)
  child.stdin.end('\n')
  await once(child, 'close')
  t.equal(anonymousBytes(child.pid ?? 0), 0)
})
