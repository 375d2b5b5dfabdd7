/**
 * Rows about the contents of resources, and about files that belong to none.
 */
import type { RuleId } from '../../../runtime/validation/rules/rules.ts'
import { config, modeJson, resource, root } from '../collection-tree.ts'
import { changed, manifest, systemProperties, withResource, type Row } from './row.ts'

const lfsPointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`

const tagFolder = 'core/ignition/tag-definition/line/Hall'

export const contents = {
  'invalid-resource-json': [
    {
      fault: 'not JSON',
      files: changed({ [systemProperties]: 'nonsense' }),
      findings: [`error invalid-resource-json ${systemProperties}`],
    },
    {
      fault: 'files is no list',
      files: changed({ [systemProperties]: manifest({ files: 'config.json' }) }),
      findings: [`error invalid-resource-json ${systemProperties}`],
    },
  ],
  'missing-attributes': [
    {
      fault: 'no attributes',
      files: changed({ [systemProperties]: manifest({ attributes: undefined }) }),
      findings: [`error missing-attributes ${systemProperties}`],
    },
  ],
  'invalid-manifest-field': [
    ...[
      { scope: 'X' },
      { scope: 7 },
      { scope: undefined },
      { version: '1' },
      { restricted: 'no' },
      { overridable: 'false' },
      { attributes: { lastModification: { actor: 'plant' } } },
      { attributes: { lastModification: { timestamp: 'yesterday' } } },
    ].map((more) => ({
      fault: JSON.stringify(more),
      files: changed({ [systemProperties]: manifest(more) }),
      findings: [`warning invalid-manifest-field ${systemProperties}`],
    })),
    ...[
      { scope: 'DG' },
      { scope: '{{ scope }}' },
      { restricted: undefined },
      { attributes: {} },
      { attributes: { lastModification: { timestamp: 1_768_464_000_000 } } },
    ].map((more) => ({ fault: `none in ${JSON.stringify(more)}`, files: changed({ [systemProperties]: manifest(more) }), findings: [] })),
  ],
  'plain-credential': [
    ...[
      { connectionProps: 'encrypt=true;password=hunter2' },
      { connectURL: 'jdbc:sqlserver://db.prod.example.com;user=sa;password=hunter2' },
      { connectURL: 'jdbc:postgresql://db.prod.example.com/erp?user=sa&password=hunter2' },
      { url: 'https://user:hunter2@erp.prod.example.com/' },
      { pwd: 'hunter2' },
    ].map((settings) => ({
      fault: JSON.stringify(settings),
      files: withResource(resource('prod/com.example.module/server/a', config({ settings }))),
      findings: ['warning plain-credential prod/com.example.module/server/a'],
    })),
    {
      fault: 'the password of a database in a mode',
      files: withResource(resource('prod/com.example.module/server/a', config({ settings: { password: 'hunter2' } }))),
      findings: ['warning plain-credential prod/com.example.module/server/a'],
    },
    {
      fault: 'in core, where there are no modes',
      isAlone: true,
      files: {
        [`${root}/core/config-mode.json`]: modeJson('Core', 'external'),
        ...resource('core/com.example.module/server/a', config({ clientSecret: 'hunter2' })),
      },
      findings: ['warning belongs-in-mode core', 'warning plain-credential core/com.example.module/server/a'],
    },
    {
      fault: 'what is kept elsewhere, filled in on the way, hashed or the same everywhere is none',
      files: withResource(
        resource('prod/com.example.module/server/a', config({ password: '{{ password }}', passphrase: '#{PHRASE}', secretName: 'a' })),
        resource('prod/com.example.module/server/b', config({ password: '__PASSWORD__', secret: '', keyStoreAliasPassword: 'password' })),
        resource('prod/com.example.module/users/c', { 'users.json': '[{"password":"[8f]1a"}]' }),
      ),
      findings: [],
    },
  ],
  'key-committed': [
    {
      fault: 'the keys of a gateway',
      files: { ...changed({}), 'services/config/ignition/keys/root.json': '{}', 'services/config/ignition/keys/kek.json': '{}' },
      findings: [
        'warning key-committed services/config/ignition/keys/kek.json',
        'warning key-committed services/config/ignition/keys/root.json',
      ],
    },
  ],
  'wrong-shape': [
    ...['[]', 'null', '7'].map((content) => ({
      fault: `settings that are ${content}`,
      files: withResource(resource('core/ignition/schedule/day', { 'config.json': content })),
      findings: ['error wrong-shape core/ignition/schedule/day/config.json'],
    })),
    ...['{}', '[{"name":"A","tagType":"Folder","tags":{}}]', '[{"tags":[{"name":"A","tags":[{"tags":"B"}]}]}]'].map((content) => ({
      fault: `tags that are ${content}`,
      files: withResource(resource(tagFolder, { 'tags.json': content }, { manifest: 'unary-resource.json' })),
      findings: [`error wrong-shape ${tagFolder}/tags.json`],
    })),
    {
      fault: 'users that are a list',
      files: withResource(resource('prod/ignition/user-source/staff', { ...config({}), 'users.json': '[]' })),
      findings: ['error wrong-shape prod/ignition/user-source/staff/users.json'],
    },
    {
      fault: 'a list of another module',
      files: withResource(resource('core/com.example.module/a/b', { 'list.json': '[]' })),
      findings: [],
    },
  ],
  'broken-secret': [
    ...Object.entries({
      'plain text': 'hunter2',
      'no encrypted key': { ciphertext: 'a', iv: 'b', tag: 'c', protected: 'e30' },
      'nothing but a ciphertext': { ciphertext: 'a' },
    }).map(([fault, data]) => ({
      fault,
      files: withResource(resource('prod/com.example.module/server/a', config({ settings: { login: { type: 'Embedded', data } } }))),
      findings: ['error broken-secret prod/com.example.module/server/a/config.json'],
    })),
    {
      fault: 'a whole one, one that is kept elsewhere, none, and another type of that name',
      files: withResource(
        resource(
          'prod/com.example.module/server/a',
          config({
            own: { type: 'Embedded', data: { ciphertext: 'a', encrypted_key: 'b', iv: 'c', tag: 'd', protected: 'e30' } },
            none: { type: 'Embedded', data: null },
            other: { type: 'Embedded' },
          }),
        ),
      ),
      findings: [],
    },
  ],
  'listed-file-missing': [
    {
      fault: 'a thumbnail',
      files: changed({ [systemProperties]: manifest({ files: ['config.json', 'thumbnail.png'] }) }),
      findings: [`warning listed-file-missing ${systemProperties}`],
    },
    {
      fault: 'the key store of one machine, which git ignores',
      isAlone: true,
      files: withResource({
        [`${root}/local/config-mode.json`]: modeJson('Local', 'core', { inheritable: false }),
        [`${root}/local/com.inductiveautomation.opcua/server-keystore/resource.json`]: manifest({ files: ['keystore.pfx'] }),
      }),
      findings: ['warning local-committed local'],
    },
    {
      fault: 'a listed file is absent',
      files: changed({ 'core/ignition/security-levels/config.json': null }),
      findings: ['error listed-file-missing core/ignition/security-levels/resource.json'],
    },
    {
      fault: 'the absent file is for the redundant backup node',
      files: changed({ [systemProperties]: manifest({ files: ['backupConfig.json', 'config.json'] }) }),
      findings: [`warning listed-file-missing ${systemProperties}`],
    },
    {
      fault: 'the absent file may lie in the tree that this part is laid over',
      isAlone: true,
      files: { [`${root}/core/ignition/cobranding/resource.json`]: manifest({}) },
      findings: ['warning missing-config-mode core', 'warning listed-file-missing core/ignition/cobranding/resource.json'],
    },
  ],
  'unlisted-file': [
    {
      fault: 'a file that is not listed',
      files: changed({ 'core/ignition/security-levels/notes.txt': 'x' }),
      findings: ['warning unlisted-file core/ignition/security-levels/notes.txt'],
    },
    {
      fault: 'what a file manager left behind is no news',
      files: changed({ 'core/ignition/security-levels/.DS_Store': 'x', 'core/ignition/security-levels/Thumbs.db': 'x' }),
      findings: [],
    },
    {
      fault: 'what a file is made from',
      files: changed({
        'core/ignition/security-levels/config.json.j2': '{}',
        'core/ignition/security-levels/config.json.tmpl': '{}',
        'core/ignition/security-levels/resource.json.j2': '{}',
      }),
      findings: [],
    },
    {
      fault: 'two files beside one resource',
      files: changed({ 'core/ignition/security-levels/a.txt': 'x', 'core/ignition/security-levels/b.txt': 'x' }),
      findings: ['warning unlisted-file core/ignition/security-levels/a.txt'],
    },
    {
      fault: 'what a tool puts beside many resources',
      files: withResource(
        ...['a', 'b', 'c', 'd'].map((name) => resource(`core/ignition/schedule/${name}`, config({ name }))),
        ...['a', 'b', 'c', 'd'].map((name) => ({ [`${root}/core/ignition/schedule/${name}/extracted.py`]: 'x' })),
      ),
      findings: ['warning unlisted-file core/ignition/schedule'],
    },
  ],
  'resource-in-resource': [
    {
      fault: 'a resource below a resource',
      files: withResource(resource('core/ignition/tag-provider/line/below', config({}))),
      findings: ['warning resource-in-resource core/ignition/tag-provider/line'],
    },
    { fault: 'a folder of files', files: withResource(resource('core/com.example.module/theme/a', { 'app/dock.css': '' })), findings: [] },
  ],
  'lfs-pointer': [
    {
      fault: 'a picture that LFS stores elsewhere',
      files: withResource(resource('core/ignition/images/logo', { 'data.bin': lfsPointer })),
      findings: ['error lfs-pointer core/ignition/images/logo/data.bin'],
    },
    {
      fault: 'a manifest that LFS stores elsewhere',
      files: changed({ [systemProperties]: lfsPointer }),
      findings: [`error lfs-pointer ${systemProperties}`],
    },
  ],
  'missing-resource-json': [
    {
      fault: 'data without manifest',
      files: changed({ 'core/ignition/schedule/day/config.json': '{}' }),
      findings: ['warning missing-resource-json core/ignition/schedule/day'],
    },
    {
      fault: 'files for people and their computers',
      files: changed({ 'core/ignition/schedule/README.md': 'x', 'core/ignition/schedule/.DS_Store': 'x', 'core/ignition/._schedule': 'x' }),
      findings: [],
    },
  ],
  'stale-signature': [
    {
      fault: 'a file edited by hand',
      files: changed({ 'core/ignition/security-levels/config.json': '{"levels":[1]}' }),
      findings: ['warning stale-signature core/ignition/security-levels/resource.json'],
    },
    {
      fault: 'a damaged file, which has to be mended before it is signed',
      files: changed({ 'core/ignition/security-levels/config.json': '{"levels":' }),
      findings: ['error truncated-json core/ignition/security-levels/config.json'],
    },
    {
      fault: 'a resource that a template of the gateway locked',
      files: withResource(resource('core/ignition/schedule/day', config({ a: 1 }), { locked: true })),
      findings: [],
    },
    {
      fault: 'a resource of local, which no gateway gets',
      files: withResource(
        { [`${root}/local/config-mode.json`]: modeJson('Local', 'core', { inheritable: false }) },
        resource('local/ignition/local-system-properties', config({ a: 1 })),
        { [`${root}/local/ignition/local-system-properties/config.json`]: '{}' },
      ),
      findings: ['warning local-committed local'],
    },
  ],
  'override-identical': [
    {
      fault: 'an override that equals its base',
      files: withResource(resource('dev/ignition/tag-provider/line', config({ profile: { type: 'STANDARD' } }))),
      findings: ['warning override-identical dev/ignition/tag-provider/line'],
    },
    {
      fault: 'it is compared with the nearest base',
      files: withResource(
        { [`${root}/line-1/config-mode.json`]: modeJson('Line 1', 'dev') },
        resource('line-1/ignition/system-properties', config({ systemName: 'plant', multicastIPAddr: '231.1.1.1' })),
      ),
      findings: [],
    },
  ],
  'override-forbidden': [
    {
      fault: 'a base that is not overridable',
      files: withResource(
        resource('core/ignition/schedule/day', config({ a: 1 }), { more: { overridable: false } }),
        resource('dev/ignition/schedule/day', config({ a: 2 })),
      ),
      findings: ['warning override-forbidden dev/ignition/schedule/day'],
    },
  ],
  'orphan-file': [
    { fault: 'a file in the root', files: changed({ 'notes.txt': 'x' }), findings: ['warning orphan-file notes.txt'] },
    {
      fault: 'a file in a module',
      files: changed({ 'core/ignition/notes.txt': 'x' }),
      findings: ['warning orphan-file core/ignition/notes.txt'],
    },
    {
      fault: 'files for people and their computers',
      files: changed({ 'README.md': 'x', 'core/readme.txt': 'x', 'core/ignition/README': 'x', '.DS_Store': 'x', 'dev/desktop.ini': 'x' }),
      findings: [],
    },
  ],
} satisfies Partial<Record<RuleId, Row[]>>
