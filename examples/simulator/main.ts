/**
 * `node examples/simulator/main.ts --data <dir> [--port 8088] [--name gw] [--mode dev] [--api-key name:secret]`. In a pod it also takes the
 * arguments of a gateway's container: `-n <name> -a <address> -- -Dignition.config.mode=<mode>`.
 */
import { parseArgs } from 'node:util'
import { startSimulator } from './simulator.ts'

const simulator = await startSimulator(readArguments())
process.stdout.write(
  `${simulator.url} is ${simulator.state()}${simulator
    .faults()
    .map((fault) => `\n  ${fault}`)
    .join('')}\n`,
)
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => void simulator.stop())

function readArguments(): Parameters<typeof startSimulator>[0] {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        data: { type: 'string' },
        port: { type: 'string', default: '8088' },
        host: { type: 'string', default: '127.0.0.1' },
        name: { type: 'string', short: 'n', default: 'gateway' },
        address: { type: 'string', short: 'a' },
        mode: { type: 'string' },
        'api-key': { type: 'string' },
      },
    })
    const port = Number(values.port)
    const properties = positionals.flatMap((word) => /^-Dignition\.config\.mode=(.+)$/.exec(word)?.[1] ?? [])
    const mode = values.mode ?? properties.at(-1)
    if (values.data === undefined) throw new Error('--data <dir> is needed')
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port must be a whole number up to 65535')
    return {
      dataDir: values.data,
      port,
      host: values.host,
      name: values.name,
      ...(mode === undefined ? {} : { mode }),
      ...(values['api-key'] === undefined ? {} : { apiKey: values['api-key'] }),
    }
  } catch (error) {
    process.stderr.write(`simulator: ${error instanceof Error ? error.message : String(error)}\n`)
    return process.exit(2)
  }
}
