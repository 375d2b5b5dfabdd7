/**
 * Explains the error codes of a system that lacks a resource, for every part that calls the system. Pure.
 */

/** The missing resource, and what to do. */
export const shortages = {
  EMFILE: 'this process has too many files open; raise its limit (ulimit -n)',
  ENFILE: 'this machine has too many files open; raise fs.file-max',
  ENOMEM: 'the system is out of memory; give the machine or the container more',
} as const
