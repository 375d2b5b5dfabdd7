/**
 * Maps error output of git and ssh to a reason when this machine or the repository is the cause; tried before the table of error-patterns.ts. Pure.
 */
import { refusalsOfVolume } from './no-room.ts'
import type { ErrorPattern } from './error-patterns.ts'

/** Failures of this machine's installation or of the repository itself, whether or not a git host is involved. */
export const localPatterns: readonly ErrorPattern[] = [
  // Failures of the machine take precedence: git and its helpers then also report errors of each other, the host and the repository.
  ...refusalsOfVolume.map(({ message, words }): ErrorPattern => ({
    pattern: message,
    reason: 'SourceVolumeFull',
    words: () => words,
    byUs: true,
  })),
  {
    pattern:
      /^env: '?([A-Za-z-]{1,30})'?: (?:No such file|Permission denied)|^sh: .*\b(git): (?:not found|(?:cannot execute: )?Permission denied)/,
    reason: 'ToolMissing',
    words: (_asked, [, first, second]) => `${first ?? second ?? 'a program'} is not installed or cannot be run`,
  },
  {
    pattern: /cannot run ssh|ssh: (?:command )?not found/,
    reason: 'ToolMissing',
    words: () => 'ssh is not installed or cannot be run',
  },
  {
    pattern: /'remote-https?' is not a git command|Unable to find remote helper for 'https?'/,
    reason: 'ToolMissing',
    words: () => 'git-remote-https is not installed; git lacks HTTPS support',
  },
  {
    pattern: /No user exists for uid/,
    reason: 'ToolMissing',
    words: () => 'this user ID has no passwd entry, which ssh needs; install libnss_wrapper or give the user an entry in /etc/passwd',
  },
  {
    pattern: /^error: unknown option `([a-z-]{1,40})/,
    reason: 'ToolMissing',
    words: (_asked, [, option]) => `this git is too old: it knows no --${option}`,
  },
  {
    pattern: /died of signal 9\b/,
    reason: 'GitKilled',
    words: () => 'a helper of git was killed, probably because memory ran out',
    byUs: true,
  },
  {
    pattern: /Too many open files/i,
    reason: 'GitKilled',
    words: () => 'git could open no more files; raise the limit on open files (ulimit -n)',
    byUs: true,
  },
  {
    // Checked after the pattern for a missing program. A thread that cannot be created may be one that does not fit into git's own memory
    // limit.
    pattern:
      /cannot fork|unable to fork|getaddrinfo\(\) thread failed to start|^(?!.*unable to create thread).*Resource temporarily unavailable/i,
    reason: 'GitKilled',
    words: () => 'git could start no helper: this machine lacks memory, or permits no more processes (ulimit -u, pids.max)',
    byUs: true,
  },
  {
    // The second is JGit's, as Gerrit and Gitblit answer with every protocol.
    pattern: /unadvertised object|want [0-9a-f]{40,64} not valid/,
    reason: 'CommitNotServed',
    words: () => 'the git host serves branches and tags, but no commit by its hash',
  },
  {
    // A tag may point to anything.
    pattern: /couldn't find remote ref|no matching remote head|not our ref|no such ref was fetched|did not match any|expected commit type/i,
    reason: 'RefNotFound',
    words: () => 'the git host has no such branch, tag or commit',
  },
  {
    // A mirror in the host's format is then created in place of this one.
    pattern: /mismatched algorithms|does not support this repository's object format/,
    reason: 'GitFailed',
    words: () => 'the git host names objects by another hash (SHA-1, SHA-256) than the mirror',
  },
  {
    // Before the patterns of errors that damaged files cause.
    pattern: /is corrupt|loose object .* \(stored in|unable to read tree|bad object|bad shallow line|reference broken/i,
    reason: 'GitFailed',
    words: ({ url }) =>
      url.protocol === 'file' && url.text !== ''
        ? 'a file of the repository on this machine is damaged; git fsck in the repository names it'
        : 'a file of the mirror on this machine is damaged; the mirror is fetched again',
  },
  {
    pattern: /File too large/i,
    reason: 'RepositoryTooLarge',
    words: () => 'a pack of this repository is larger than the volume for mirrors permits (source.storage.sizeLimit)',
  },
  {
    pattern: /unable to create thread/i,
    reason: 'GitOutOfMemory',
    words: () =>
      'git could start no thread: a file or pack of this repository needs more memory than git may have, or this machine permits no more threads (ulimit -u, pids.max)',
  },
  {
    pattern: /out of memory|cannot allocate memory/i,
    reason: 'GitOutOfMemory',
    words: () => 'a file or pack of this repository needs more memory than git may have',
  },
]
