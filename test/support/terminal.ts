/**
 * An interactive shell on a pseudo terminal: with aliases, jobs, Ctrl-C, colors and a width.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { until } from './world.ts'

/** The data that the terminal received, with its time in ms since the start. */
export type Received = { atMs: number; text: string }

export type Terminal = {
  received: readonly Received[]
  /** Types a line and waits for the prompt; returns the exit code, or undefined if the line is incomplete. */
  enter(line: string): Promise<number | undefined>
  /** Types a line and does not wait. */
  start(line: string): void
  /** Ctrl-C; waits for the prompt and returns the exit code of the interrupted command. */
  interrupt(): Promise<number | undefined>
}

/** Terminal titles, which are not visible: they signal that the prompt has arrived. */
const prompt = String.raw`PS1='\[\e]0;done $?\a\]$ ' PS2='\[\e]0;more\a\]> '`

/** `columns`: its width. `home` has the start-up files of the shell and git. */
export async function openTerminal(
  t: Pick<Test, 'teardown'>,
  { folder, home, columns }: { folder: string; home: string; columns: number },
): Promise<Terminal> {
  mkdirSync(home, { recursive: true })
  const profile = path.join(home, 'profile')
  writeFileSync(profile, `${prompt}\nstty cols ${columns} rows 40\n`)
  const { HOME: _home, NODE_OPTIONS: _options, NO_COLOR: _color, ...environment } = process.env
  // Without its line editor, the shell echoes typed text unchanged.
  const child = spawn('script', ['-qfec', `bash --noediting --rcfile ${profile} -i`, '/dev/null'], {
    cwd: folder,
    // The pinned Node comes first on PATH, whatever the machine has.
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
