import fc from 'fast-check'
import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { validationSeverity, parseSettings, repositorySeverity } from '../../../../runtime/validation/rules/severities.ts'

const glob = fc.oneof(fc.string({ maxLength: 40 }), fc.stringMatching(/^[[\](){}*?!+@|/a-z.\\-]{0,40}$/))
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.json(),
  glob.map((paths) => `rules: {orphan-file: [{paths: ${JSON.stringify(paths)}, severity: error}]}`),
  fc.constantFrom(1_000, 5_000).map((depth) => '['.repeat(depth)),
)

void t.test('any text is valid settings or refused with a reason', async (t) => {
  await fc.assert(
    fc.asyncProperty(text, fc.string(), async (text, path) => {
      try {
        const settings = await parseSettings(text)
        const levels = [
          repositorySeverity(settings)('orphan-file', path, 'warning'),
          validationSeverity(settings, {})('orphan-file', path, 'warning'),
        ]
        return levels.every((level) => ['error', 'warning', 'off'].includes(level))
      } catch (error) {
        return error instanceof Fault && error.reason === 'InvalidConfiguration'
      }
    }),
    { numRuns: 300 },
  )
  t.pass()
})

void t.test('in the controller no settings of the repository lower a severity', async (t) => {
  const level = fc.constantFrom('error', 'warning', 'off')
  await fc.assert(
    fc.asyncProperty(level, fc.constantFrom('error' as const, 'warning' as const), async (asked, usual) => {
      const severity = validationSeverity(await parseSettings(`rules: {orphan-file: ${asked}}`), {})('orphan-file', 'a', usual)
      return severity === 'error' || (usual === 'warning' && severity === 'warning')
    }),
  )
  t.pass()
})
