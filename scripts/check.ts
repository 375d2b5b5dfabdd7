/**
 * `npm run check`: types, lint, format, language, unused exports and generated files, without the tests. With names of files: lint, format
 * and language of these, and the types of everything.
 */
import { runGates } from './gates.ts'

process.exitCode = (await runGates(process.argv.slice(2))) === 0 ? 0 : 1
