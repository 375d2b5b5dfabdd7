/**
 * For every bundle that reads a kubeconfig.
 */
import type { Plugin } from 'esbuild'

const ofClient = /(?:^|\/)@kubernetes\/client-node(?:\/|$)/

/** client-node's index loads every generated API; only KubeConfig is used, so unreferenced code may be dropped. */
export const dropUnusedClient: Plugin = {
  name: 'drop-unused-client',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /./ }, async (args) => {
      if (args.pluginData === 'resolved' || !(ofClient.test(args.importer) || ofClient.test(args.path))) return undefined
      const { importer, resolveDir, kind } = args
      const { path: found, namespace, errors, external } = await resolve(args.path, { importer, resolveDir, kind, pluginData: 'resolved' })
      if (errors.length > 0 || external) return undefined
      return { path: found, namespace, sideEffects: false }
    })
  },
}
