import fc from 'fast-check'
import t from 'tap'
import { checkCollections, type CheckOptions } from '../../../runtime/collections/check/check.ts'
import { listingOf } from '../../../runtime/collections/model/listing.ts'
import { type RuleId, ruleIds, rules } from '../../../runtime/collections/rules/rules.ts'
import { config, type Files, layouts, layoutTree, resource, root, validTree } from '../../support/collection-tree.ts'
import { projectRoot, validProjects } from '../../support/project-tree.ts'
import { collections } from '../../support/rule-rows/collections.ts'
import { contents } from '../../support/rule-rows/contents.ts'
import { damage } from '../../support/rule-rows/damage.ts'
import { placement } from '../../support/rule-rows/placement.ts'
import { projects, shared } from '../../support/rule-rows/projects.ts'
import { references } from '../../support/rule-rows/references.ts'
import { type Row, withResource } from '../../support/rule-rows/row.ts'

const signal = new AbortController().signal

async function found(files: Files, options: Partial<CheckOptions> = {}): Promise<string[]> {
  const { findings } = await checkCollections(listingOf(files), { root, ...options }, signal)
  return findings.map(({ rule, severity, path }) => `${severity} ${rule} ${path.replace(`${root}/`, '')}`)
}

const rows: Record<RuleId, Row[]> = { ...collections, ...placement, ...contents, ...damage, ...references, ...projects }

void t.test('nothing is found in a valid tree', async (t) => {
  t.same(await found(validTree()), [])
})

for (const [name, modes] of Object.entries(layouts)) {
  void t.test(`nothing is found in the ${name} layout`, async (t) => {
    t.same(await found(layoutTree(modes)), [])
  })
}

void t.test('nothing is found in valid projects', async (t) => {
  t.same(await found(validProjects(), { root: projectRoot, kind: 'projects' }), [])
})

void t.test('each rule has a row', async (t) => {
  t.same(Object.keys(rows).toSorted(), ruleIds.toSorted())
})

for (const rule of ruleIds) {
  for (const { fault, files, findings, options } of [...rows[rule], ...(shared[rule] ?? [])]) {
    void t.test(`${rule}: ${fault}`, async (t) => {
      t.same(await found(files, options), findings)
    })
  }
}

/** Valid resources of a type of their own, with names as they occur. */
const others = fc
  .uniqueArray(fc.tuple(fc.constantFrom('external', 'core', 'dev', 'prod'), fc.stringMatching(/^[a-z][A-Za-z0-9 _]{0,8}[a-z0-9]$/)), {
    maxLength: 6,
    selector: ([, name]) => name.toLowerCase(),
  })
  .map((places) => places.map(([name, own]) => resource(`${name}/com.example.module/recipe/${own}`, config({ steps: [own] }))))

void t.test('what is seeded is found in whatever else is valid, and nothing but that', async (t) => {
  const seeded = ruleIds.flatMap((rule) => rows[rule].filter(({ isAlone }) => isAlone !== true))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...seeded), others, async ({ files, findings, options }, added) => {
      const seen = await found(Object.assign({}, ...added, files) as Files, options)
      return JSON.stringify(seen) === JSON.stringify(findings)
    }),
    { numRuns: 300 },
  )
  t.pass()
})

void t.test('each finding says what to do', async (t) => {
  for (const rule of ruleIds) {
    for (const { files, options } of rows[rule]) {
      const { findings } = await checkCollections(listingOf(files), { root, ...options }, signal)
      for (const finding of findings) {
        t.equal(finding.help, rules[finding.rule].fix)
        t.ok(finding.message.length > 0 && finding.message.length < 400, finding.message)
      }
    }
  }
})

void t.test('the missing manifest is called by its name', async (t) => {
  const messageOf = async (folder: string): Promise<string | undefined> => {
    const files = { ...validTree(), [`${root}/${folder}/udts.json`]: '{}' }
    const { findings } = await checkCollections(listingOf(files), { root }, signal)
    return findings[0]?.message
  }
  t.equal(await messageOf('core/ignition/tag-type-definition/line'), 'has udts.json and no unary-resource.json: no resource to the gateway')
  t.equal(await messageOf('core/ignition/schedule/day'), 'has udts.json and no resource.json: no resource to the gateway')
})

void t.test('a misplaced resource is told where it was likely meant to stand', async (t) => {
  const rows = [
    ['dev/database-connection/erp', 'no gateway knows database-connection/erp: did you mean ignition/database-connection/erp?'],
    ['dev/opcua/device/press', 'no gateway knows opcua/device: did you mean com.inductiveautomation.opcua/device?'],
    ['dev/ignition/tag-providers/line2', 'no gateway knows ignition/tag-providers: did you mean ignition/tag-provider?'],
    [
      'dev/com.inductiveautomation.opcua/tag-provider/a',
      'no gateway knows com.inductiveautomation.opcua/tag-provider: did you mean ignition/tag-provider?',
    ],
    ['dev/Ignition/tag-provider/a', 'no gateway knows Ignition/tag-provider: did you mean ignition/tag-provider?'],
    ['dev/ignition/ignition/tag-provider/a', 'no gateway knows ignition/ignition: did you mean ignition?'],
    [
      'dev/com.inductiveautomation.opc/device/press',
      'no gateway knows com.inductiveautomation.opc/device: did you mean com.inductiveautomation.opcua/device?',
    ],
  ] as const
  for (const [folder, message] of rows) {
    const { findings } = await checkCollections(listingOf(withResource(resource(folder, config({ a: 1 })))), { root }, signal)
    t.match(findings, [{ rule: 'misplaced-type', message }], folder)
    t.equal(findings.length, 1, folder)
  }
})

void t.test('a missing reference is told from one that other gateways have', async (t) => {
  const historian = (mode: string): Files =>
    resource(
      `${mode}/com.inductiveautomation.historian/historian-provider/core`,
      config({ mode, settings: { storage: { datasource: 'erp' } } }),
    )
  const erp = (mode: string, name: string): Files =>
    resource(`${mode}/ignition/database-connection/${name}`, config({ connectURL: `jdbc:postgresql://${mode}.example.com/erp` }))
  const messages = async (...added: Files[]): Promise<string[]> => {
    const { findings } = await checkCollections(listingOf(withResource(...added)), { root }, signal)
    return findings.filter(({ rule }) => rule === 'missing-reference').map(({ message }) => message)
  }
  const named = 'names the database connection "erp" at settings.storage.datasource'
  t.same(await messages(historian('dev'), historian('prod'), erp('dev', 'erp')), [
    `${named}, which the deployment mode "prod" does not have`,
  ])
  t.same(await messages(historian('dev'), historian('prod'), erp('dev', 'erpx'), erp('prod', 'erpx')), [
    `${named}, which does not exist`,
    `${named}, which does not exist`,
  ])
})

void t.test('a credential never stands in a finding', async (t) => {
  const secret = 'hunter2-hunter2'
  const files = withResource(
    resource('core/com.example.module/server/a', config({ password: secret, url: `https://user:${secret}@host.example.com/` })),
  )
  const { findings } = await checkCollections(listingOf(files), { root }, signal)
  t.equal(findings.length, 1)
  t.notMatch(JSON.stringify(findings), secret)
})
