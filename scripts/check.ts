/**
 * `npm run check`: types, lint, format and generated files, without the tests.
 */
import { runGates } from './gates.ts'

process.exitCode = (await runGates()) === 0 ? 0 : 1
