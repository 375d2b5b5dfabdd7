/**
 * `npm run check`: types, lint, format, what nothing uses and generated files, without the tests. With names of files: lint and format of
 * these, and the types of everything.
 */
import { runGates } from './gates.ts'

process.exitCode = (await runGates(process.argv.slice(2))) === 0 ? 0 : 1
