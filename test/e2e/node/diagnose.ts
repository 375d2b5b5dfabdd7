/**
 * Information for the diagnosis of a failure in a cluster.
 */
import type { Cluster } from './cluster.ts'

/** Prints it to standard error, with a size limit. */
export async function diagnose({ kubectl, pods }: Cluster): Promise<void> {
  const print = async (title: string, ask: () => Promise<string>): Promise<void> => {
    const text = await ask().catch(String)
    process.stderr.write(`--- ${title}\n${text}\n`)
  }
  await print('pods', () => kubectl('get', 'pods', '--all-namespaces', '--output=wide'))
  await print('resources', () => kubectl('get', 'gatewaysyncs,syncreports', '--all-namespaces', '--output=yaml'))
  await print('events', async () => last(await kubectl('get', 'events', '--all-namespaces', '--sort-by=.lastTimestamp'), 60))
  const namespaces = (await kubectl('get', 'namespaces', '--output=name').catch(() => ''))
    .split('\n')
    .map((name) => name.replace(/^.*\//, ''))
  for (const namespace of namespaces.filter((name) => name !== '' && !name.startsWith('kube-') && name !== 'cert-manager')) {
    for (const { metadata } of await pods(namespace).catch(() => [])) {
      const words = ['--namespace', namespace, metadata.name, '--all-containers', '--tail=40', '--prefix']
      await print(`logs of ${namespace}/${metadata.name}`, () => kubectl('logs', ...words))
      await print(`and before its last restart`, () => kubectl('logs', '--previous', ...words))
    }
  }
}

function last(text: string, lines: number): string {
  return text.split('\n').slice(-lines).join('\n')
}
