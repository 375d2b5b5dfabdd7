/**
 * Rows about JSON files that cannot be parsed: each kind of damage in a data file, in the manifest of a resource and in that of a
 * collection.
 */
import type { RuleId } from '../../../runtime/validation/rules/rules.ts'
import { config, type Files, modeJson, resource, root } from '../collection-tree.ts'
import { changed, manifest, systemProperties, withResource, type Row } from './row.ts'

const name = 'core/ignition/schedule/day'
const data = `${name}/config.json`
const mode = 'dev/config-mode.json'
const conflict = '{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> other\n}\n'
const gitCrypt = '\0GITCRYPT\0'
const mark = '\uFEFF'

/** A resource with a valid signature and this content in its data file. */
const withData = (content: string | Uint8Array): Files => withResource(resource(name, { 'config.json': content as string }))
const withMode = (content: string | Uint8Array): Files => changed({ [mode]: content as string })
const withManifest = (content: string | Uint8Array): Files => changed({ [systemProperties]: content as string })

export const damage = {
  'merge-conflict': [
    { fault: 'in a data file', files: withData(conflict), findings: [`error merge-conflict ${data}`] },
    { fault: 'in a resource.json', files: withManifest(conflict), findings: [`error merge-conflict ${systemProperties}`] },
    { fault: 'in a config-mode.json', files: withMode(conflict), findings: [`error merge-conflict ${mode}`] },
    {
      fault: 'in a data file that is not listed',
      files: changed({ [data]: conflict, [`${name}/resource.json`]: manifest({ files: [] }) }),
      findings: [`warning unlisted-file ${data}`],
    },
    {
      fault: 'marks within a text are none',
      files: withData(JSON.stringify({ help: '<<<<<<< HEAD\n=======\n>>>>>>> other' })),
      findings: [],
    },
    {
      fault: 'in local, which no gateway gets',
      files: withResource(
        { [`${root}/local/config-mode.json`]: modeJson('Local', 'core', { inheritable: false }) },
        resource('local/ignition/local-system-properties', { 'config.json': conflict }),
      ),
      findings: ['warning local-committed local', 'warning merge-conflict local/ignition/local-system-properties/config.json'],
    },
  ],
  'encrypted-file': [
    { fault: 'by git-crypt, a data file', files: withData(`${gitCrypt}{}`), findings: [`error encrypted-file ${data}`] },
    {
      fault: 'by git-crypt, a resource.json',
      files: withManifest(`${gitCrypt}{}`),
      findings: [`error encrypted-file ${systemProperties}`],
    },
    { fault: 'by git-crypt, a config-mode.json', files: withMode(`${gitCrypt}{}`), findings: [`error encrypted-file ${mode}`] },
    {
      fault: 'by git-crypt, a picture',
      files: withResource(resource('core/ignition/images/logo.png', { 'logo.png': `${gitCrypt}x` })),
      findings: ['error encrypted-file core/ignition/images/logo.png/logo.png'],
    },
    {
      fault: 'by SOPS, a password, which is then not in plain text',
      files: withData(JSON.stringify({ password: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]', sops: { version: '3.9.0' } })),
      findings: [`error encrypted-file ${data}`],
    },
    {
      fault: 'a text that only shows what SOPS writes',
      files: withData(JSON.stringify({ help: 'ENC[AES256_GCM,data:…] is an encrypted value' })),
      findings: [],
    },
    {
      fault: 'in local, which no gateway gets',
      files: withResource(
        { [`${root}/local/config-mode.json`]: modeJson('Local', 'core', { inheritable: false }) },
        resource('local/ignition/local-system-properties', { 'config.json': `${gitCrypt}{}` }),
      ),
      findings: ['warning local-committed local', 'warning encrypted-file local/ignition/local-system-properties/config.json'],
    },
  ],
  'zero-bytes': [
    { fault: 'a data file of zeros', files: withData(Buffer.alloc(300)), findings: [`error zero-bytes ${data}`] },
    { fault: 'a data file that ends in zeros', files: withData(`{"a":1}${'\0'.repeat(100)}`), findings: [`error zero-bytes ${data}`] },
    { fault: 'a resource.json', files: withManifest(Buffer.alloc(300)), findings: [`error zero-bytes ${systemProperties}`] },
    { fault: 'a config-mode.json', files: withMode(Buffer.alloc(300)), findings: [`error zero-bytes ${mode}`] },
    {
      fault: 'a picture may hold any bytes',
      files: withResource(resource('core/ignition/images/logo.png', { 'logo.png': '\0\0' })),
      findings: [],
    },
  ],
  'not-utf-8': [
    { fault: 'a data file in UTF-16', files: withData(Buffer.from('{"a":1}', 'utf16le')), findings: [`error not-utf-8 ${data}`] },
    { fault: 'one with its mark', files: withData(Buffer.from(`${mark}{"a":1}`, 'utf16le')), findings: [`error not-utf-8 ${data}`] },
    { fault: 'one in Latin-1', files: withData(Buffer.from('{"a":"Käse"}', 'latin1')), findings: [`error not-utf-8 ${data}`] },
    {
      fault: 'a resource.json in UTF-16',
      files: withManifest(Buffer.from(manifest({}), 'utf16le')),
      findings: [`error not-utf-8 ${systemProperties}`],
    },
    {
      fault: 'a config-mode.json in UTF-16',
      files: withMode(Buffer.from(modeJson('Dev', 'core'), 'utf16le')),
      findings: [`error not-utf-8 ${mode}`],
    },
  ],
  'byte-order-mark': [
    { fault: 'before a data file', files: withData(`${mark}{"a":1}`), findings: [`warning byte-order-mark ${data}`] },
    {
      fault: 'before a resource.json',
      files: withManifest(mark + manifest({})),
      findings: [`warning byte-order-mark ${systemProperties}`],
    },
    { fault: 'before a config-mode.json', files: withMode(mark + modeJson('Dev', 'core')), findings: [`warning byte-order-mark ${mode}`] },
  ],
  'empty-file': [
    { fault: 'a data file', files: withData(''), findings: [`error empty-file ${data}`] },
    { fault: 'a data file of line ends', files: withData('\r\n'), findings: [`error empty-file ${data}`] },
    { fault: 'a resource.json', files: withManifest(''), findings: [`error empty-file ${systemProperties}`] },
    { fault: 'a config-mode.json', files: withMode(''), findings: [`error empty-file ${mode}`] },
    {
      fault: 'a style sheet may be empty',
      files: withResource(resource('core/com.example.module/theme/a', { 'index.css': '' })),
      findings: [],
    },
  ],
  'truncated-json': [
    { fault: 'a data file cut in half', files: withData('{"tags":[{"name":"a"},{"na'), findings: [`error truncated-json ${data}`] },
    { fault: 'one too large to be parsed', files: withData(`[${'{"a":[]},'.repeat(150_000)}`), findings: [`error truncated-json ${data}`] },
    { fault: 'one of many values', files: withData(`[${'{},'.repeat(60_000)}`), findings: [`error truncated-json ${data}`] },
    { fault: 'a large one that is whole', files: withData(`[${'{"a":[]},'.repeat(150_000)}0]`), findings: [] },
    { fault: 'a resource.json', files: withManifest('{"files":['), findings: [`error invalid-resource-json ${systemProperties}`] },
  ],
  'invalid-json': [
    { fault: 'a comma too many', files: withData('{"a":1,}'), findings: [`error invalid-json ${data}`] },
    { fault: 'a comment', files: withData('{\n  // a\n  "a": 1\n}'), findings: [`error invalid-json ${data}`] },
    { fault: 'the mark of a template', files: withData('{"port": {{ vars.port }}}'), findings: [`warning invalid-json ${data}`] },
    { fault: 'a template within a text', files: withData('{"port": "{{ vars.port }}"}'), findings: [] },
  ],
  'duplicate-key': [
    { fault: 'in a data file', files: withData('{"a":{"b":1,"b":2}}'), findings: [`warning duplicate-key ${data}`] },
    {
      fault: 'in a resource.json',
      files: withManifest(manifest({}).replace('{', '{"scope":"A",')),
      findings: [`warning duplicate-key ${systemProperties}`],
    },
    {
      fault: 'in a config-mode.json',
      files: withMode(modeJson('Dev', 'core').replace('{', '{"title":"Dev",')),
      findings: [`warning duplicate-key ${mode}`],
    },
    {
      fault: 'the same key in two objects',
      files: withResource(resource(name, config({ a: { b: 1 }, c: { b: 1 }, d: [{ b: 1 }, { b: 2 }] }))),
      findings: [],
    },
  ],
} satisfies Partial<Record<RuleId, Row[]>>
