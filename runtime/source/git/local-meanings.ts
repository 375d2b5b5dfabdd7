/**
 * What the lines mean that git and ssh write when this machine or the repository itself is the trouble; the table is read as that of meanings.ts,
 * and before it. Pure.
 */
import { refusalsOfVolume } from './no-room.ts'
import type { Meaning } from './meanings.ts'

/** Failures of this machine's installation or of the repository itself, whether or not a git host is involved. */
export const localMeanings: readonly Meaning[] = [
  // What the machine refuses comes first: git and its helpers then complain of each other, of the host and of the repository.
  ...refusalsOfVolume.map(({ said, words }): Meaning => ({
    pattern: said,
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
    words: () => 'git-remote-https is not installed; git is there without its support of https',
  },
  {
    pattern: /No user exists for uid/,
    reason: 'ToolMissing',
    words: () => 'ssh knows no user of this number; install libnss_wrapper or give the user an entry in /etc/passwd',
  },
  {
    pattern: /^error: unknown option `([a-z-]{1,40})/,
    reason: 'ToolMissing',
    words: (_asked, [, option]) => `this git is too old: it knows no --${option}`,
  },
  {
    pattern: /died of signal 9\b/,
    reason: 'GitKilled',
    words: () => 'a helper of git was ended from outside, as a machine does that is short of memory',
    byUs: true,
  },
  {
    // After what says that there is no program to start. A thread that cannot be made is one for which git's own bound leaves no memory.
    pattern: /cannot fork|unable to fork|^(?!.*unable to create thread).*Resource temporarily unavailable/i,
    reason: 'GitKilled',
    words: () => 'git could start no helper: this machine is short of memory or of processes',
    byUs: true,
  },
  {
    // A tag may point to anything.
    pattern: /couldn't find remote ref|not our ref|no such ref was fetched|did not match any|unadvertised object|expected commit type/i,
    reason: 'RefNotFound',
    words: () => 'the git host has no such branch, tag or commit',
  },
  {
    // Before the patterns of what follows from damaged files.
    pattern: /is corrupt|loose object .* \(stored in|unable to read tree|bad object|reference broken/i,
    reason: 'GitFailed',
    words: () => 'git cannot read its own files',
  },
  {
    pattern: /File too large/i,
    reason: 'RepositoryTooLarge',
    words: () => 'a pack of this repository is larger than the volume for mirrors permits (source.storage.sizeLimit)',
  },
  {
    pattern: /out of memory|unable to create thread|cannot allocate memory/i,
    reason: 'GitOutOfMemory',
    words: () => 'a file or pack of this repository needs more memory than git may have',
  },
]
