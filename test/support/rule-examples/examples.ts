/**
 * An example for each rule, laid over a valid tree: the rule has a finding before and none after. Paths are relative to the folder of the
 * collections or of the projects. Pure.
 */
import { coreSingletons } from '../../../runtime/validation/model/resource-types.ts'
import type { Example, ExampleFiles } from './example.ts'
import { projectExamples } from './project-examples.ts'
import type { RuleId } from '../../../runtime/validation/rules/rules.ts'

const mode = (title: string, parent: string, more: object = {}): string =>
  JSON.stringify({ title, description: '', enabled: true, inheritable: true, parent, ...more })
const manifest = (files: readonly string[] = ['config.json'], more: object = {}): string =>
  JSON.stringify({ scope: 'A', version: 1, restricted: false, overridable: true, files, attributes: {}, ...more })
const file = (path: string, before: string | null, after: string | null): Example => ({
  before: { [path]: before },
  after: { [path]: after },
})
/** A resource in one place before and in another after. */
const moved = (from: string, to: string, config = '{}'): Example => ({
  before: { [`${from}/resource.json`]: manifest(), [`${from}/config.json`]: config },
  after: { [`${to}/resource.json`]: manifest(), [`${to}/config.json`]: config },
})
/** A resource with an invalid data file. */
const data = (before: string, after = '{"profile":{"type":"basic"}}'): Example => ({
  before: { [`${day}/resource.json`]: manifest(), [`${day}/config.json`]: before },
  after: { [`${day}/resource.json`]: manifest(), [`${day}/config.json`]: after },
})
const day = 'core/ignition/schedule/day'
const erp = (host: string): string => `{"connectURL":"jdbc:postgresql://${host}/erp"}`
const connection = (collection: string, host: string): ExampleFiles => ({
  [`${collection}/ignition/database-connection/erp/resource.json`]: manifest(),
  [`${collection}/ignition/database-connection/erp/config.json`]: erp(host),
})
const withPassword = (password: string): ExampleFiles => ({
  'dev/ignition/database-connection/erp/config.json': `{"connectURL":"jdbc:postgresql://db.dev.example.com/erp","password":${password}}`,
})
const journal = (name: string): ExampleFiles => ({
  'core/ignition/alarm-journal/plant/resource.json': manifest(),
  'core/ignition/alarm-journal/plant/config.json': `{"profile":{"type":"DATASOURCE"},"settings":{"datasource":"${name}"}}`,
})
const types: ExampleFiles = {
  'core/ignition/tag-type-definition/line/unary-resource.json': manifest(['udts.json']),
  'core/ignition/tag-type-definition/line/udts.json': '[{"name":"Motor","tagType":"UdtType"}]',
}
const hall = (typeId: string): ExampleFiles => ({
  ...types,
  'core/ignition/tag-definition/line/Hall/unary-resource.json': manifest(['udts.json']),
  'core/ignition/tag-definition/line/Hall/udts.json': `[{"name":"M1","tagType":"UdtInstance","typeId":"${typeId}"}]`,
})
const copied = (uuid: string): ExampleFiles => ({
  [`${day}/resource.json`]: manifest([], { attributes: { uuid: 'b5d7d1a4' } }),
  'core/ignition/schedule/night/resource.json': manifest([], { attributes: { uuid } }),
})
const signed = (lastModificationSignature: string): ExampleFiles => ({
  [`${day}/resource.json`]: manifest(['config.json'], { attributes: { lastModificationSignature } }),
  [`${day}/config.json`]: '{}',
})
const override = (levels: string): ExampleFiles => ({
  'core/ignition/cobranding/resource.json': manifest(),
  'core/ignition/cobranding/config.json': '{"title":"Plant"}',
  'dev/ignition/cobranding/resource.json': manifest(),
  'dev/ignition/cobranding/config.json': levels,
})
const overridable = (isOverridable: boolean): ExampleFiles => ({
  ...override('{"title":"Plant (test)"}'),
  'core/ignition/cobranding/resource.json': manifest(['config.json'], { overridable: isOverridable }),
})
const hallTags = (tags: string): ExampleFiles => ({
  'core/ignition/tag-definition/line/Hall/unary-resource.json': manifest(['tags.json']),
  'core/ignition/tag-definition/line/Hall/tags.json': tags,
})
const twoTags = (second: string): ExampleFiles =>
  hallTags(`[{"name":"M1","tagType":"AtomicTag"},{"name":"${second}","tagType":"AtomicTag"}]`)
const cycle = (inner: string): ExampleFiles => ({
  'core/ignition/tag-type-definition/line/unary-resource.json': manifest(['udts.json']),
  'core/ignition/tag-type-definition/line/udts.json': JSON.stringify([
    { name: 'Drive', tagType: 'UdtType' },
    { name: 'Belt', tagType: 'UdtType', typeId: 'Drive' },
    {
      name: 'Motor',
      tagType: 'UdtType',
      tags: [
        { name: 'belt', tagType: 'UdtInstance', typeId: 'Belt' },
        { name: 'own', tagType: 'UdtInstance', typeId: inner },
      ],
    },
  ]),
})
const whole: ExampleFiles = Object.fromEntries(coreSingletons.map((type) => [`core/${type}/resource.json`, manifest([])]))
const historian = (collection: string): ExampleFiles => ({
  [`${collection}/ignition/alarm-journal/plant/resource.json`]: manifest(),
  [`${collection}/ignition/alarm-journal/plant/config.json`]: '{"profile":{"type":"INTERNAL"}}',
})

const collectionExamples = {
  'missing-config-mode': {
    before: { 'stage/ignition/cobranding/resource.json': manifest([]), 'stage/config-mode.json': null },
    after: { 'stage/config-mode.json': mode('Stage', 'prod') },
  },
  'nested-copy': {
    before: { 'core/core/config-mode.json': mode('Core', 'external') },
    after: { 'core/core/config-mode.json': null },
  },
  'invalid-config-mode': file('dev/config-mode.json', mode('Development', 'core', { enabled: 'true' }), mode('Development', 'core')),
  'unknown-collection-key': file('dev/config-mode.json', mode('Development', 'core', { inheritible: true }), mode('Development', 'core')),
  'unknown-parent': file('dev/config-mode.json', mode('Development', 'base'), mode('Development', 'core')),
  'unexpected-parent': file('core/config-mode.json', mode('Core', 'system'), mode('Core', 'external')),
  'parent-cycle': {
    before: { 'dev/config-mode.json': mode('Development', 'prod'), 'prod/config-mode.json': mode('Production', 'dev') },
    after: { 'dev/config-mode.json': mode('Development', 'prod'), 'prod/config-mode.json': mode('Production', 'core') },
  },
  'parent-disabled': file('core/config-mode.json', mode('Core', 'external', { enabled: false }), mode('Core', 'external')),
  'parent-not-inheritable': file('core/config-mode.json', mode('Core', 'external', { inheritable: false }), mode('Core', 'external')),
  'collection-disabled': file('prod/config-mode.json', mode('Production', 'core', { enabled: false }), mode('Production', 'core')),
  'mode-without-folder': file('stage/config-mode.json', null, mode('Stage', 'prod')),
  'reserved-collection': moved('system/ignition/cobranding', 'external/ignition/cobranding'),
  'singleton-only-in-mode': {
    before: { 'dev/ignition/cobranding/resource.json': manifest([]), 'core/ignition/cobranding/resource.json': null },
    after: override('{"title":"Plant (test)"}'),
  },
  'missing-singletons': {
    before: { ...whole, 'core/ignition/security-properties/resource.json': null },
    after: whole,
  },
  'machine-identity-shared': moved('core/com.inductiveautomation.opcua/uuid', 'local/com.inductiveautomation.opcua/uuid'),
  'singleton-with-name': moved('core/ignition/cobranding/mine', 'core/ignition/cobranding'),
  'misplaced-type': moved('core/ignition/shedule/day', day),
  'missing-name-folder': moved('core/ignition/schedule', day),
  'name-too-deep': moved('core/ignition/schedule/shifts/day', day),
  'belongs-in-mode': {
    before: { ...historian('core'), ...historian('dev'), 'dev/ignition/alarm-journal/plant/config.json': '{"profile":{"type":"REMOTE"}}' },
    after: {
      ...historian('core'),
      'dev/ignition/alarm-journal/plant/resource.json': manifest(),
      'dev/ignition/alarm-journal/plant/config.json': '{"profile":{"type":"REMOTE"}}',
      'prod/ignition/alarm-journal/plant/resource.json': manifest(),
      'prod/ignition/alarm-journal/plant/config.json': '{"profile":{"type":"REMOTE","gateway":"central"}}',
    },
  },
  'host-or-credential-shared': {
    before: connection('core', 'db.example.com'),
    after: { ...connection('dev', 'db.dev.example.com'), ...connection('prod', 'db.prod.example.com') },
  },
  'plain-credential': {
    before: { ...connection('dev', 'db.dev.example.com'), ...withPassword('"to be changed"') },
    after: {
      ...connection('dev', 'db.dev.example.com'),
      ...withPassword('{"type":"Referenced","data":{"providerName":"vault","secretName":"erp"}}'),
      'core/ignition/secret-provider/vault/resource.json': manifest([]),
    },
  },
  'key-committed': file('../ignition/keys/root.json', '{}', null),
  'shared-resource-in-mode': {
    before: {
      'dev/ignition/tag-definition/line/Hall/unary-resource.json': manifest(['tags.json']),
      'dev/ignition/tag-definition/line/Hall/tags.json': '[]',
    },
    after: {
      'core/ignition/tag-definition/line/Hall/unary-resource.json': manifest(['tags.json']),
      'core/ignition/tag-definition/line/Hall/tags.json': '[]',
    },
  },
  'tag-type-cycle': { before: cycle('Motor'), after: cycle('Drive') },
  'repeated-tag': { before: twoTags('M1'), after: twoTags('M2') },
  'missing-reference': { before: journal('historain'), after: journal('historian') },
  'unknown-tag-type': { before: hall('Moter'), after: hall('Motor') },
  'duplicate-uuid': { before: copied('b5d7d1a4'), after: copied('0c9e6f27') },
  'same-value-in-modes': {
    before: { ...connection('dev', 'db.example.com'), ...connection('prod', 'db.example.com') },
    after: { ...connection('dev', 'db.dev.example.com'), ...connection('prod', 'db.example.com') },
  },
  'invalid-resource-json': file(`${day}/resource.json`, manifest([], { files: 'config.json' }), manifest([])),
  'merge-conflict': data('{\n<<<<<<< HEAD\n  "rate": 1\n=======\n  "rate": 2\n>>>>>>> line-b\n}', '{\n  "rate": 2\n}'),
  'encrypted-file': data('{"password":"ENC[AES256_GCM,data:Tr7o,iv:1=,tag:2=,type:str]","sops":{"version":"3.9.0"}}'),
  'zero-bytes': data('{"rate":1}\0\0\0\0'),
  'not-utf-8': data('{\0"\0a\0"\0:\x001\0}\0'),
  'byte-order-mark': data('\uFEFF{"rate":1}'),
  'empty-file': data(''),
  'truncated-json': data('{"profile":{"type":"bas'),
  'invalid-json': data('{"rate": 1,}', '{"rate": 1}'),
  'duplicate-key': data('{"rate": 1, "rate": 2}', '{"rate": 2}'),
  'wrong-shape': {
    before: { ...hallTags('{"name":"M1","tagType":"AtomicTag"}') },
    after: { ...hallTags('[{"name":"M1","tagType":"AtomicTag"}]') },
  },
  'broken-secret': {
    before: { ...connection('dev', 'db.dev.example.com'), ...withPassword('{"type":"Embedded","data":"to be changed"}') },
    after: {
      ...connection('dev', 'db.dev.example.com'),
      ...withPassword(
        '{"type":"Embedded","data":{"protected":"e30","encrypted_key":"a2V5","iv":"aXY","ciphertext":"dGV4dA","tag":"dGFn"}}',
      ),
    },
  },
  'missing-attributes': file(`${day}/resource.json`, manifest([], { attributes: undefined }), manifest([])),
  'invalid-manifest-field': file(`${day}/resource.json`, manifest([], { overridable: 'false' }), manifest([], { overridable: false })),
  'listed-file-missing': {
    before: { [`${day}/resource.json`]: manifest(), [`${day}/config.json`]: null },
    after: { [`${day}/resource.json`]: manifest(), [`${day}/config.json`]: '{}' },
  },
  'unlisted-file': {
    before: { [`${day}/resource.json`]: manifest(), [`${day}/config.json`]: '{}', [`${day}/notes.txt`]: 'ask the shift' },
    after: { [`${day}/resource.json`]: manifest(), [`${day}/config.json`]: '{}', [`${day}/notes.txt`]: null },
  },
  'lfs-pointer': data(`version https://git-lfs.github.com/spec/v1\noid sha256:${'4d7a2146'.repeat(8)}\nsize 12345\n`),
  'missing-resource-json': {
    before: { [`${day}/resource.json`]: null, [`${day}/config.json`]: '{}' },
    after: { [`${day}/resource.json`]: manifest(), [`${day}/config.json`]: '{}' },
  },
  'stale-signature': {
    before: signed('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
    after: signed('2a65a589226f7d2f816fec9ea7ad63cfe9248fac3b03f2144d420d7ab2c33d91'),
  },
  'override-identical': { before: override('{"title":"Plant"}'), after: override('{"title":"Plant (test)"}') },
  'override-forbidden': { before: overridable(false), after: overridable(true) },
  'first-boot-conflict': file('core/ignition/quickstart/resource.json', manifest([]), null),
  'hidden-in-external': moved('external/ignition/security-properties', 'core/ignition/security-properties'),
  'cache-committed': file('.resources/4d7a2146', '{}', null),
  'local-committed': file('local/config-mode.json', mode('Local', 'core', { inheritable: false }), null),
  'forbidden-name': moved('core/ignition/schedule/day*', day),
  'case-collision': {
    before: { [`${day}/resource.json`]: manifest([]), 'core/ignition/schedule/Day/resource.json': manifest([]) },
    after: { [`${day}/resource.json`]: manifest([]) },
  },
  'orphan-file': file('core/ignition/notes.txt', 'ask the shift', null),
} satisfies Partial<Record<RuleId, Example>>

export const examples: Readonly<Record<RuleId, Example>> = { ...collectionExamples, ...projectExamples }
