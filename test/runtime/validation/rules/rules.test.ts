import path from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { checkCollections, type CheckOptions } from '../../../../runtime/validation/run/check-root.ts'
import { listingOf } from '../../../../runtime/validation/model/listing.ts'
import { type RuleId, ruleIds, rules } from '../../../../runtime/validation/rules/rules.ts'
import { lacksText, matchObject } from '../../../support/assertions.ts'
import { config, type Files, layouts, layoutTree, resource, root, validTree } from '../../../support/collection-tree.ts'
import { projectRoot, validProjects } from '../../../support/project-tree.ts'
import { collections } from '../../../support/rule-rows/collections.ts'
import { contents } from '../../../support/rule-rows/contents.ts'
import { damage } from '../../../support/rule-rows/damage.ts'
import { placement } from '../../../support/rule-rows/placement.ts'
import { projects, shared } from '../../../support/rule-rows/projects.ts'
import { references } from '../../../support/rule-rows/references.ts'
import { sharing } from '../../../support/rule-rows/sharing.ts'
import { kept } from '../../../support/transcript.ts'
import { type Row, withResource } from '../../../support/rule-rows/row.ts'

const signal = new AbortController().signal

async function found(files: Files, options: Partial<CheckOptions> = {}): Promise<string[]> {
  const { findings } = await checkCollections(listingOf(files), { root, ...options }, signal)
  return findings.map(({ rule, severity, path }) => `${severity} ${rule} ${path.replace(`${root}/`, '')}`)
}

const rows: Record<RuleId, Row[]> = { ...collections, ...placement, ...contents, ...damage, ...references, ...sharing, ...projects }

void t.test('a valid tree has no findings', async (t) => {
  t.strictSame(await found(validTree()), [])
})

for (const [name, modes] of Object.entries(layouts)) {
  void t.test(`nothing is found in the ${name} layout, whose modes have resources of their own`, async (t) => {
    t.strictSame(await found(layoutTree(modes)), [])
  })
}

void t.test('valid projects have no findings', async (t) => {
  t.strictSame(await found(validProjects(), { root: projectRoot, kind: 'projects' }), [])
})

void t.test('each rule has a row', async (t) => {
  t.strictSame(Object.keys(rows).toSorted(), ruleIds.toSorted())
})

for (const rule of ruleIds) {
  for (const { fault, files, findings, options } of [...rows[rule], ...(shared[rule] ?? [])]) {
    void t.test(`${rule}: ${fault}`, async (t) => {
      t.strictSame(await found(files, options), findings)
    })
  }
}

/** Valid resources of a separate type, with realistic names. */
const others = fc
  .uniqueArray(fc.tuple(fc.constantFrom('external', 'core', 'dev', 'prod'), fc.stringMatching(/^[a-z][A-Za-z0-9 _]{0,8}[a-z0-9]$/)), {
    maxLength: 6,
    selector: ([, name]) => name.toLowerCase(),
  })
  .map((places) => places.map(([name, own]) => resource(`${name}/com.example.module/recipe/${own}`, config({ steps: [own] }))))

void t.test('a seeded fault is the only finding among valid resources', async (t) => {
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

void t.test('each finding includes its fix', async (t) => {
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

void t.test('the messages of all rows are those of messages.txt', async (t) => {
  const lines: string[] = []
  for (const rule of ruleIds) {
    for (const { fault, files, options } of [...rows[rule], ...(shared[rule] ?? [])]) {
      const { findings } = await checkCollections(listingOf(files), { root, ...options }, signal)
      lines.push(`${rule}: ${fault}`, ...findings.map(({ path, message }) => `  ${path}: ${message}`))
    }
  }
  kept(t, path.join(import.meta.dirname, 'messages.txt'), `${lines.join('\n')}\n`)
})

void t.test('the message names the missing manifest file', async (t) => {
  const messageOf = async (folder: string): Promise<string | undefined> => {
    const files = { ...validTree(), [`${root}/${folder}/udts.json`]: '{}' }
    const { findings } = await checkCollections(listingOf(files), { root }, signal)
    return findings[0]?.message
  }
  t.equal(
    await messageOf('core/ignition/tag-type-definition/line'),
    'has udts.json but no unary-resource.json: the gateway does not load it',
  )
  t.equal(await messageOf('core/ignition/schedule/day'), 'has udts.json but no resource.json: the gateway does not load it')
})

void t.test('a misplaced resource is reported with its probable location', async (t) => {
  const rows = [
    [
      'dev/database-connection/erp',
      'database-connection/erp is unknown to gateways, which do not load its resources: did you mean ignition/database-connection/erp?',
    ],
    [
      'dev/opcua/device/press',
      'opcua/device is unknown to gateways, which do not load its resources: did you mean com.inductiveautomation.opcua/device?',
    ],
    [
      'dev/ignition/tag-providers/line2',
      'ignition/tag-providers is unknown to gateways, which do not load its resources: did you mean ignition/tag-provider?',
    ],
    [
      'dev/com.inductiveautomation.opcua/tag-provider/a',
      'com.inductiveautomation.opcua/tag-provider is unknown to gateways, which do not load its resources: did you mean ignition/tag-provider?',
    ],
    [
      'dev/Ignition/tag-provider/a',
      'Ignition/tag-provider is unknown to gateways, which do not load its resources: did you mean ignition/tag-provider?',
    ],
    [
      'dev/ignition/ignition/tag-provider/a',
      'ignition/ignition is unknown to gateways, which do not load its resources: did you mean ignition?',
    ],
    [
      'dev/com.inductiveautomation.opc/device/press',
      'com.inductiveautomation.opc/device is unknown to gateways, which do not load its resources: did you mean com.inductiveautomation.opcua/device?',
    ],
  ] as const
  for (const [folder, message] of rows) {
    const { findings } = await checkCollections(listingOf(withResource(resource(folder, config({ a: 1 })))), { root }, signal)
    matchObject(t, findings, [{ rule: 'misplaced-type', message }], folder)
    t.equal(findings.length, 1, folder)
  }
})

void t.test('a reference missing in one mode is distinguished from one missing everywhere', async (t) => {
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
  const named = 'refers to the database connection "erp" at settings.storage.datasource'
  t.strictSame(await messages(historian('dev'), historian('prod'), erp('dev', 'erp')), [
    `${named}, which the deployment mode "prod" does not have: the resource does not work without it`,
  ])
  t.strictSame(await messages(historian('dev'), historian('prod'), erp('dev', 'erpx'), erp('prod', 'erpx')), [
    `${named}, which does not exist: the resource does not work without it`,
    `${named}, which does not exist: the resource does not work without it`,
  ])
})

void t.test('a finding never contains a credential', async (t) => {
  const secret = 'hunter2-hunter2'
  const files = withResource(
    resource('core/com.example.module/server/a', config({ password: secret, url: `https://user:${secret}@host.example.com/` })),
  )
  const { findings } = await checkCollections(listingOf(files), { root }, signal)
  t.equal(findings.length, 1)
  lacksText(t, JSON.stringify(findings), secret)
})
