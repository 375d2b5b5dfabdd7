import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { nextCertificates, type NextCertificates } from '../../../runtime/certificates/rotation.ts'
import { openMounted } from '../../../runtime/certificates/mounted.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { type Log, silentLog } from '../../../runtime/platform/log/log.ts'
import { Temporal } from '../../../runtime/platform/temporal.ts'
import { containsText, lacksText, matchObject } from '../../support/assertions.ts'
import { steppedClock } from '../../support/stepped-clock.ts'

async function issue(): Promise<NextCertificates> {
  return await nextCertificates(undefined, { dnsNames: ['localhost'], now: Temporal.Now.instant() })
}

/** A Secret as the kubelet mounts it: symbolic links through a folder link that is swapped atomically. */
function mount(t: Test): { folder: string; put(files: Record<string, string>): void } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'certificates-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  let version = 0
  for (const name of ['tls.crt', 'tls.key', 'ca.crt']) symlinkSync(path.join('..data', name), path.join(folder, name))
  return {
    folder,
    put(files) {
      version += 1
      mkdirSync(path.join(folder, `..${version}`))
      for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, `..${version}`, name), content)
      symlinkSync(`..${version}`, path.join(folder, '..next'))
      renameSync(path.join(folder, '..next'), path.join(folder, '..data'))
    },
  }
}

function filesOf({ leaf, caBundle }: NextCertificates): Record<string, string> {
  return { 'tls.crt': leaf.certificate, 'tls.key': leaf.key, 'ca.crt': caBundle }
}

void t.test('a renewed certificate is served without a restart, and the old CA stays trusted for a day', async (t) => {
  const { folder, put } = mount(t)
  const [first, second] = [await issue(), await issue()]
  put(filesOf(first))
  const { clock, step } = steppedClock()
  const keeper = await openMounted({ clock, log: silentLog }, { folder })
  t.equal(keeper.current().cert, first.leaf.certificate.trim() + '\n')
  const heard: string[] = []
  keeper.onChange(({ cert }) => heard.push(cert))
  const stop = new AbortController()
  const running = keeper.run(stop.signal)
  await step(10_000)
  t.strictSame(heard, [], 'nothing changed')
  put(filesOf(second))
  await step(10_000)
  t.strictSame(heard, [second.leaf.certificate.trim() + '\n'])
  t.equal(keeper.current().caBundle, second.caBundle + first.caBundle)
  await step(90_000_000)
  t.equal(keeper.current().caBundle, second.caBundle)
  stop.abort()
  await running
})

void t.test('an incomplete or missing key pair is not served; the last good one is, and the log has one warning', async (t) => {
  const { folder, put } = mount(t)
  const [first, second] = [await issue(), await issue()]
  put(filesOf(first))
  const { clock, step } = steppedClock()
  const warnings: unknown[] = []
  const log: Log = { ...silentLog, warn: ({ message }) => warnings.push(message) }
  const keeper = await openMounted({ clock, log }, { folder })
  const stop = new AbortController()
  const running = keeper.run(stop.signal)
  put({ ...filesOf(first), 'tls.crt': second.leaf.certificate })
  await step(10_000)
  put({ 'tls.crt': '' })
  await step(10_000)
  t.equal(keeper.current().key, first.leaf.key.trim() + '\n')
  matchObject(t, warnings, [/tls.crt and tls.key are not a certificate and its key/])
  t.equal(warnings.length, 1)
  lacksText(t, JSON.stringify(warnings), 'PRIVATE KEY')
  put(filesOf(second))
  await step(10_000)
  t.equal(keeper.current().key, second.leaf.key.trim() + '\n')
  stop.abort()
  await running
})

void t.test('a file that cannot be used at startup is named', async (t) => {
  const { folder, put } = mount(t)
  const good = filesOf(await issue())
  const cases: [Record<string, string>, RegExp][] = [
    [{}, /tls.crt cannot be read/],
    [{ ...good, 'tls.key': 'x' }, /tls.crt and tls.key are not a certificate and its key/],
    [{ ...good, 'ca.crt': 'x' }, /ca.crt does not contain a certificate/],
    [{ ...good, 'ca.crt': 'x'.repeat(1024 * 1024 + 1) }, /ca.crt is larger than 1048576 bytes/],
  ]
  for (const [files, message] of cases) {
    put(files)
    const error: unknown = await openMounted({ clock: systemClock, log: silentLog }, { folder }).catch((thrown: unknown) => thrown)
    t.ok(error instanceof Fault && error.reason === 'InvalidConfiguration')
    containsText(t, (error as Error).message, message)
  }
})
