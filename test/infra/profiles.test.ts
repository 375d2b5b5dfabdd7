/**
 * The objects of four profiles of values, compared with files in which a change of a construct is a readable diff. To update them:
 * `CLUSTER_SYNC_WRITE_PROFILES=1 npx tap test/infra/profiles.test.ts`.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Yaml } from 'cdk8s'
import t from 'tap'
import { checkValues } from '../../infra/values/check.ts'
import { flags, settingOf } from '../support/flags.ts'
import { everything, everythingOff, objectsOf, profiles } from './installed.ts'

const folder = path.join(import.meta.dirname, 'profiles')
const writing = process.env['CLUSTER_SYNC_WRITE_PROFILES'] === '1'

for (const [name, values] of Object.entries(profiles)) {
  void t.test(`${name}: exactly the objects that are written down`, async (t) => {
    const file = path.join(folder, `${name}.yaml`)
    const installed = Yaml.stringify(...(objectsOf(values) as unknown[]))
    if (writing) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(file, installed)
    }
    t.equal(installed, readFileSync(file, 'utf8'))
  })
}

void t.test('each written file belongs to a profile', async (t) => {
  t.strictSame(
    readdirSync(folder).toSorted(),
    Object.keys(profiles)
      .map((name) => `${name}.yaml`)
      .toSorted(),
  )
})

void t.test('everything on has every switch on, everything off has every switch off', async (t) => {
  const wrong = (values: object, desired: boolean): string[] =>
    flags.filter((key) => settingOf(checkValues(values).values, key) !== desired)
  t.strictSame(wrong(everything, true), ['statusPage.oidc.enabled'], 'all but the login that excludes the other')
  t.strictSame(wrong(everythingOff, false), [])
})

void t.test('the production profile has only warnings about values that each installation has to set', async (t) => {
  t.strictSame(
    checkValues(profiles.production).warnings.map((warning) => warning.split(': ')[0]),
    ['image.repository', 'agentImage.repository', 'networkPolicy.metrics.from'],
  )
})
