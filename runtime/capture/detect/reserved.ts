/**
 * Refuses to capture files of a repository that another system executes: git, a CI system or a code host. Otherwise a compromised gateway
 * could run code there through a branch. Pure.
 */
import { foldName } from '../../api/values.ts'

/** Files without a leading dot that CI systems and code hosts read in any folder, as `foldName` returns them. */
const interpretedNames = new Set([
  'appveyor.yml',
  'azure-pipelines.yaml',
  'azure-pipelines.yml',
  'bitbucket-pipelines.yml',
  'buildspec.yaml',
  'buildspec.yml',
  'cloudbuild.json',
  'cloudbuild.yaml',
  'cloudbuild.yml',
  'codeowners',
  'dockerfile',
  'jenkinsfile',
  'makefile',
  'package.json',
])

/**
 * Why a path of the repository is never captured, completing "<path> …"; undefined: it may be. `isMapped`: a mapping of the type `file`
 * names it.
 */
export function reservedInRepository(source: string, isMapped: boolean): string | undefined {
  const names = source.split('/').map(foldName)
  if (names.some((name) => name.startsWith('.'))) return 'has a name with a leading dot, which git, CI systems and code hosts may interpret'
  // `git~1` is the short name of `.git` on Windows.
  if (names.some((name) => /^git~\d+$/.test(name))) return "may mean git's own files on Windows"
  if (names.length === 1 && names[0] !== 'project.json' && !isMapped)
    return 'is in the root folder of the repository, where CI systems and code hosts read their settings'
  const name = names.at(-1) ?? ''
  if (interpretedNames.has(name) || name.startsWith('jenkinsfile.')) return 'has a name that CI systems or code hosts interpret'
  return undefined
}
