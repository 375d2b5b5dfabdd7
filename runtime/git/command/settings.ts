/**
 * The git settings and the PATH of every git process.
 */

/** The system's program folders, independent of the PATH of this process. */
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Settings against hostile repositories and for little memory; docs/development/benchmarks.md has the figures. */
export const settings = [
  'protocol.version=2',
  'protocol.allow=never',
  'core.hooksPath=/dev/null',
  'core.symlinks=false',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'submodule.recurse=false',
  'fetch.fsckObjects=true',
  'transfer.fsckObjects=true',
  // Trees written by old tools. git reads them with a warning, and refuses them only if all warnings are errors, as in a fetch.
  'fetch.fsck.zeroPaddedFilemode=ignore',
  'http.followRedirects=false',
  'http.lowSpeedLimit=1000',
  'credential.helper=',
  'core.deltaBaseCacheLimit=8m',
  'core.bigFileThreshold=1m',
  // A fetch of one change adds each changed folder completely; compressing the thousands of ids of a large one takes a tenth of its time and saves
  // nothing.
  'core.looseCompression=0',
  'pack.threads=2',
  'fetch.unpackLimit=1',
  'gc.auto=0',
  'maintenance.auto=false',
  'repack.writeBitmaps=false',
  // What git may hold to find deltas: by default the window of each thread and 256 MiB of found ones.
  'pack.windowMemory=1m',
  'pack.deltaCacheSize=1m',
]
