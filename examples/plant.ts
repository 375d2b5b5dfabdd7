/**
 * Makes a git repository of the example plant, for the quickstart and for tests: a work tree to edit in and the bare repository that a
 * GatewaySync names.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

export type PlantRepository = {
  /** The bare repository, as `spec.git.repo` names it. */
  url: string
  /** The work tree. */
  folder: string
  /** The first commit. */
  head: string
  /** Writes (null deletes), commits and pushes; returns the commit. */
  commit(changes: Readonly<Record<string, string | null>>, message: string): Promise<string>
}

const run = promisify(execFile)
const tree = path.join(import.meta.dirname, 'plant')
const env = {
  ...process.env,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Plant',
  GIT_AUTHOR_EMAIL: 'plant@example.com',
  GIT_COMMITTER_NAME: 'Plant',
  GIT_COMMITTER_EMAIL: 'plant@example.com',
}

export async function makePlantRepository(folder: string): Promise<PlantRepository> {
  const work = path.join(folder, 'work')
  const bare = path.join(folder, 'plant.git')
  await mkdir(bare, { recursive: true })
  await cp(tree, work, { recursive: true })
  const git = async (...args: string[]): Promise<string> => (await run('git', ['-C', work, ...args], { env })).stdout.trim()
  await git('init', '-q', '-b', 'main')
  // The reader of the quickstart commits here too, with whatever configuration the machine has.
  await git('config', 'user.name', 'Plant')
  await git('config', 'user.email', 'plant@example.com')
  await run('git', ['init', '-q', '--bare', '-b', 'main', bare], { env })
  await git('remote', 'add', 'origin', bare)
  const publish = async (message: string): Promise<string> => {
    await git('add', '-A')
    await git('commit', '-q', '-m', message)
    await git('push', '-q', '-u', 'origin', 'main')
    return await git('rev-parse', 'HEAD')
  }
  const head = await publish('Add the plant')
  return {
    url: bare,
    folder: work,
    head,
    async commit(changes, message) {
      for (const [name, content] of Object.entries(changes)) {
        const file = path.join(work, name)
        if (content === null) {
          await rm(file)
          continue
        }
        await mkdir(path.dirname(file), { recursive: true })
        await writeFile(file, content)
      }
      return await publish(message)
    },
  }
}
