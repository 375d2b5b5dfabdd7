/**
 * `npm run release:home`: fails unless package.json names the repository that the release is made in.
 */
import { homeIn } from './home.ts'

const { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY: repository = '' } = process.env
const { url } = homeIn()
const made = `${server}/${repository}`
if (url.toLowerCase() !== made.toLowerCase()) {
  process.stderr.write(
    `package.json names ${url} as the home of the project, but this release is made in ${made}: set "repository.url" to git+${made}.git, run npm run generate, and commit both\n`,
  )
  process.exit(1)
}
