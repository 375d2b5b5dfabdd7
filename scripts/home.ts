/**
 * The home of the project, from `repository` of package.json: the only place that names it. `npm run release` fails unless the repository
 * that a release is made in is that home.
 */
import { readFileSync } from 'node:fs'

export type Home = { url: string; owner: string; name: string }

/** Throws when package.json names no repository by https. */
export function homeIn(file = 'package.json'): Home {
  const { repository } = JSON.parse(readFileSync(file, 'utf8')) as { repository?: { url?: string } }
  const url = (repository?.url ?? '').replace(/^git\+/, '').replace(/\.git$/, '')
  const [, owner = '', name = ''] = /^https:\/\/[^/]+\/([^/]+)\/([^/]+)$/.exec(url) ?? []
  if (name === '')
    throw new Error(`${file}: "repository.url" must be git+https://<host>/<owner>/<name>.git, not ${repository?.url ?? 'empty'}`)
  return { url, owner, name }
}
