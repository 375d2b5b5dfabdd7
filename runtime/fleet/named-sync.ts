/**
 * Writes a GatewaySync and its cluster as the arguments of a suggested command. Pure.
 */

/** `context`: the context of the kubeconfig that the user named; without one, commands use the current context. */
export type NamedSync = { namespace: string; name: string; context?: string | undefined }

/** The arguments of `cluster-sync`: `plant -n line-1 --context plant-a`. */
export function named({ namespace, name, context }: NamedSync): string {
  return `${name} -n ${namespace}${inContext(context)}`
}

/** The option `--context`, which `kubectl` has too, with a space in front; empty without a context. */
export function inContext(context: string | undefined): string {
  return context === undefined ? '' : ` --context ${shellWord(context)}`
}

/** Quotes a text that contains shell metacharacters, as refs, selectors and contexts may. */
export function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
