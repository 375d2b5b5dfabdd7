/**
 * A shell on a pseudo terminal, typed into as a person does: with aliases, jobs, Ctrl-C, colours and a width.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { until } from './world.ts'

/** What the terminal received, and when, in ms since it was opened. */
export type Received = { atMs: number; text: string }

export type Terminal = {
  received: readonly Received[]
  /** Types a line and waits for the prompt behind it; returns the exit code, or undefined where the line asks for more. */
  enter(line: string): Promise<number | undefined>
  /** Types a line and does not wait. */
  start(line: string): void
  /** Ctrl-C; waits for the prompt and returns the exit code of what it ended. */
  interrupt(): Promise<number | undefined>
}

/** Titles of the terminal, which no screen shows: the prompt tells by them that it is there. */
const prompt = String.raw`PS1='\[\e]0;done $?\a\]$ ' PS2='\[\e]0;more\a\]> '`

/** `columns`: how wide it is. `home` holds what the shell and git read at their start. */
export async function openTerminal(
  t: Pick<Test, 'teardown'>,
  { folder, home, columns }: { folder: string; home: string; columns: number },
): Promise<Terminal> {
  mkdirSync(home, { recursive: true })
  const profile = path.join(home, 'profile')
  writeFileSync(profile, `${prompt}\nstty cols ${columns} rows 40\n`)
  const { HOME: _home, NODE_OPTIONS: _options, NO_COLOR: _colour, ...environment } = process.env
  // Without its own line editor, the shell shows what is typed as it is.
  const child = spawn('script', ['-qfec', `bash --noediting --rcfile ${profile} -i`, '/dev/null'], {
    cwd: folder,
    // By its own name the pinned Node is found, whatever the machine has.
    env: { ...environment, HOME: home, TERM: 'xterm', PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}` },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  t.teardown(async () => {
    child.stdin.end()
    child.kill('SIGHUP')
    await ended
  })
  const startedMs = performance.now()
  const received: Received[] = []
  let all = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    received.push({ atMs: performance.now() - startedMs, text })
    all += text
  })
  const answered = async (from: number, what: string): Promise<number | undefined> => {
    const title = await until(
      // oxlint-disable-next-line no-control-regex -- a title begins with one
      () => /\u001b\]0;(done (\d+)|more)\u0007/.exec(all.slice(from)) ?? undefined,
      `the prompt behind ${what}`,
    )
    return title[2] === undefined ? undefined : Number(title[2])
  }
  await answered(0, 'the start')
  return {
    received,
    start: (line) => void child.stdin.write(`${line}\n`),
    async enter(line) {
      const from = all.length
      child.stdin.write(`${line}\n`)
      return await answered(from, line)
    },
    async interrupt() {
      const from = all.length
      child.stdin.write('\u0003')
      return await answered(from, 'Ctrl-C')
    },
  }
}
