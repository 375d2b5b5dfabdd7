/**
 * A real Prometheus on this machine, with its scrape targets and rules.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { freePort } from './ports.ts'
import type { ScrapeConfig } from './monitoring-operator.ts'
import { until } from './world.ts'

/** One series of the answer to a query. */
export type Series = { metric: Record<string, string>; value: number }
export type Target = { scrapePool: string; health: string; lastError: string; labels: Record<string, string> }
export type ExemplarSeries = { seriesLabels: Record<string, string>; exemplars: { labels: Record<string, string>; value: string }[] }

export type Prometheus = {
  url: string
  query(expr: string): Promise<Series[]>
  /** The active targets of one scrape configuration. */
  targets(jobName: string): Promise<Target[]>
  /** The numeric points of each series over the last seconds. */
  range(expr: string, seconds: number): Promise<{ metric: Record<string, string>; points: [number, number][] }[]>
  exemplars(expr: string): Promise<ExemplarSeries[]>
  /** The answer of the HTTP API to any other request. */
  api(path: string): Promise<unknown>
}

type Options = { folder: string; scrapeConfigs: readonly ScrapeConfig[]; groups?: readonly unknown[] }

/** Resolves when it is ready. */
export async function startPrometheus(t: Pick<Test, 'teardown'>, { folder, scrapeConfigs, groups = [] }: Options): Promise<Prometheus> {
  const own = path.join(folder, 'prometheus')
  mkdirSync(own)
  const rules = path.join(own, 'rules.yml')
  writeFileSync(rules, JSON.stringify({ groups }))
  const config = path.join(own, 'prometheus.yml')
  const global = { evaluation_interval: '1s' }
  writeFileSync(config, JSON.stringify({ global, rule_files: [rules], scrape_configs: scrapeConfigs }))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${path.join(own, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--enable-feature=exemplar-storage',
    '--log.level=warn',
  ]
  const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  let log = ''
  child.stderr.on('data', (text: Buffer) => (log += text.toString('utf8')))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}: ${log}`)
      const answer = await fetch(`${url}/-/ready`).catch(() => undefined)
      await answer?.arrayBuffer()
      return answer?.status === 200 ? true : undefined
    },
    'prometheus is ready',
    120_000,
  )
  const api = async (route: string): Promise<unknown> => {
    const answer = await fetch(`${url}/api/v1/${route}`)
    const { status, data, error } = (await answer.json()) as { status: string; data: unknown; error?: string }
    if (status !== 'success') throw new Error(`${decodeURIComponent(route)}: ${error}`)
    return data
  }
  return {
    url,
    api,
    async query(expr) {
      const { result } = (await api(`query?query=${encodeURIComponent(expr)}`)) as {
        result: { metric: Record<string, string>; value: [number, string] }[]
      }
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
    },
    async targets(jobName) {
      const { activeTargets } = (await api('targets?state=active')) as { activeTargets: Target[] }
      return activeTargets.filter(({ scrapePool }) => scrapePool === jobName)
    },
    async range(expr, seconds) {
      const end = Date.now() / 1000
      const { result } = (await api(`query_range?query=${encodeURIComponent(expr)}&start=${end - seconds}&end=${end}&step=1`)) as {
        result: { metric: Record<string, string>; values: [number, string][] }[]
      }
      return result.map(({ metric, values }) => ({
        metric,
        points: values.map(([at, value]): [number, number] => [at, Number(value)]).filter(([, value]) => Number.isFinite(value)),
      }))
    },
    async exemplars(expr) {
      return (await api(`query_exemplars?query=${encodeURIComponent(expr)}&start=0&end=4102444800`)) as ExemplarSeries[]
    },
  }
}
