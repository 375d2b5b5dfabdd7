/**
 * A suggestion takes time for a limited number of candidates, the most similar ones.
 */
import t from 'tap'
import { nearestPath } from '../../../../runtime/git/content/near-path.ts'

void t.test('among thousands of similar paths the one with the fewest edits is suggested, in little time', async (t) => {
  const letters = (seed: number): string =>
    Array.from({ length: 300 }, (_, index) => String.fromCharCode(97 + ((seed * 31 + index * index * 7) % 26))).join('')
  const missing = letters(20_001)
  const meant = `${missing.slice(0, 150)}X${missing.slice(151)}`
  const paths = [...Array.from({ length: 20_000 }, (_, index) => letters(index)).filter((path) => path !== missing), meant]
  const before = process.cpuUsage().user
  t.equal(nearestPath(missing, { paths, roots: [] }, false), meant)
  const ms = (process.cpuUsage().user - before) / 1000
  t.ok(ms < 5_000, `${ms} ms`)
})
