/** An agent that only answers probes, in the files of a folder, until it is killed: `node answer-probes.ts <folder>`. */
import { keepProbeFiles } from '../../../runtime/agent/probe-files.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'

const health = () => ({ started: true, live: true, why: undefined })
await keepProbeFiles({ clock: systemClock, log: silentLog, health }, process.argv[2] ?? '', new AbortController().signal)
