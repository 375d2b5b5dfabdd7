/**
 * `node examples/simulator/main.ts --data <dir> [--port 8088] [--name gw] [--mode dev] [--api-key name:secret]`
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
    const { values } = parseArgs({
      options: {
        data: { type: 'string' },
        port: { type: 'string', default: '8088' },
        host: { type: 'string', default: '127.0.0.1' },
        name: { type: 'string', default: 'gateway' },
        mode: { type: 'string' },
        'api-key': { type: 'string' },
      },
    })
    const port = Number(values.port)
    if (values.data === undefined) throw new Error('--data <dir> is needed')
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port must be a whole number up to 65535')
    return {
      dataDir: values.data,
      port,
      host: values.host,
      name: values.name,
      ...(values.mode === undefined ? {} : { mode: values.mode }),
      ...(values['api-key'] === undefined ? {} : { apiKey: values['api-key'] }),
    }
  } catch (error) {
    process.stderr.write(`simulator: ${error instanceof Error ? error.message : String(error)}\n`)
    return process.exit(2)
  }
}
