/**
 * Rows about collections: their folders, their manifests, their inheritance.
 */
import type { RuleId } from '../../../runtime/validation/rules/rules.ts'
import { config, modeJson, resource, validTree, root } from '../collection-tree.ts'
import { changed, withResource, type Row } from './row.ts'

export const collections = {
  'missing-config-mode': [
    {
      fault: 'a mode without manifest',
      files: changed({ 'dev/config-mode.json': null }),
      findings: ['error missing-config-mode dev'],
    },
    {
      fault: 'core without manifest',
      files: changed({ 'core/config-mode.json': null }),
      findings: ['error missing-config-mode core'],
    },
    {
      fault: 'external without manifest',
      files: changed({ 'external/config-mode.json': null }),
      findings: ['error missing-config-mode external'],
    },
    {
      fault: 'a part of a tree, to be laid over a whole one',
      isAlone: true,
      files: resource('core/ignition/security-levels', config({ levels: [] })),
      findings: ['warning missing-config-mode core'],
    },
    {
      fault: 'a part of a tree with external, with which no gateway starts alone',
      isAlone: true,
      files: resource('external/ignition/security-levels', config({ levels: [] })),
      findings: ['error missing-config-mode external'],
    },
  ],
  'nested-copy': [
    {
      fault: 'a folder of collections within it',
      files: withResource({ [`${root}/resources/core/config-mode.json`]: modeJson('Core', 'external') }),
      findings: ['error nested-copy resources/core'],
    },
    {
      fault: 'a collection within itself',
      files: withResource({ [`${root}/core/core/config-mode.json`]: modeJson('Core', 'external') }),
      findings: ['error nested-copy core/core'],
    },
  ],
  'invalid-config-mode': [
    { fault: 'not JSON', files: changed({ 'dev/config-mode.json': '{' }), findings: ['error invalid-config-mode dev/config-mode.json'] },
    { fault: 'a list', files: changed({ 'dev/config-mode.json': '[]' }), findings: ['error invalid-config-mode dev/config-mode.json'] },
    {
      fault: 'enabled as text',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'core', { enabled: 'true' }) }),
      findings: ['error invalid-config-mode dev/config-mode.json'],
    },
    {
      fault: 'no parent',
      files: changed({ 'dev/config-mode.json': '{"title":"Dev","enabled":true,"inheritable":true}' }),
      findings: ['error invalid-config-mode dev/config-mode.json'],
    },
  ],
  'unknown-collection-key': [
    {
      fault: 'a misspelled key',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'core', { inheritible: true }) }),
      findings: ['warning unknown-collection-key dev/config-mode.json'],
    },
  ],
  'unknown-parent': [
    {
      fault: 'a parent without folder',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'base') }),
      findings: ['error unknown-parent dev/config-mode.json'],
    },
    {
      fault: 'local, which each gateway has of its own, committed or not',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'Local'), 'local/config-mode.json': modeJson('Local', 'core') }),
      findings: ['error unknown-parent dev/config-mode.json', 'warning local-committed local'],
    },
  ],
  'unexpected-parent': [
    {
      fault: 'core under system',
      files: changed({ 'core/config-mode.json': modeJson('Core', 'system') }),
      findings: ['warning unexpected-parent core/config-mode.json'],
    },
  ],
  'parent-cycle': [
    {
      fault: 'two modes under each other',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'prod'), 'prod/config-mode.json': modeJson('Prod', 'Dev') }),
      findings: ['error parent-cycle dev/config-mode.json'],
    },
    {
      fault: 'a mode under itself',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'dev') }),
      findings: ['error parent-cycle dev/config-mode.json'],
    },
  ],
  'parent-disabled': [
    {
      fault: 'a disabled parent',
      files: changed({
        'dev/config-mode.json': modeJson('Dev', 'prod'),
        'prod/config-mode.json': modeJson('Prod', 'core', { enabled: false }),
      }),
      findings: ['warning parent-disabled dev/config-mode.json'],
    },
  ],
  'parent-not-inheritable': [
    {
      fault: 'a parent that is not inheritable',
      files: changed({
        'dev/config-mode.json': modeJson('Dev', 'prod'),
        'prod/config-mode.json': modeJson('Prod', 'core', { inheritable: false }),
      }),
      findings: ['error parent-not-inheritable dev/config-mode.json'],
    },
  ],
  'collection-disabled': [
    {
      fault: 'a disabled mode',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'core', { enabled: false }) }),
      findings: ['warning collection-disabled dev/config-mode.json'],
    },
  ],
  'mode-without-folder': [
    {
      fault: 'a mode in use without folder',
      files: validTree(),
      options: { modesInUse: ['dev', 'staging'] },
      findings: ['warning mode-without-folder staging'],
    },
  ],
  'reserved-collection': [
    {
      fault: 'a system folder',
      files: withResource(resource('system/ignition/cobranding', config({}))),
      findings: ['warning reserved-collection system'],
    },
  ],
} satisfies Partial<Record<RuleId, Row[]>>
