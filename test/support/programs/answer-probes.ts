/** An agent that answers probes in the files of a folder, and nothing else, until it is killed: `node answer-probes.ts <folder>`. */
import { keepProbeFiles } from '../../../runtime/agent/probe-files.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { silentLog } from '../../../runtime/log.ts'

const health = () => ({ started: true, live: true, why: undefined })
await keepProbeFiles({ clock: systemClock, log: silentLog, health }, process.argv[2] ?? '', new AbortController().signal)
