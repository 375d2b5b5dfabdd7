/**
 * `npm run check`: types, lint, format, what nothing uses and generated files, without the tests.
 */
import { runGates } from './gates.ts'

process.exitCode = (await runGates()) === 0 ? 0 : 1
