/**
 * Opens the browser of the tests, prints a line, and then idles until it is killed.
 */
import { launch } from '../browser.ts'

const [, , folder = ''] = process.argv
await launch(folder)
process.stdout.write('open\n')
setInterval(() => undefined, 60_000)
