/**
 * Completion of the command line in a shell: one script for each, made from the table of all commands. Pure.
 */
import { shellWord } from '../source/git/shell-word.ts'

/** One command: its words after `cluster-sync`, with `/` before each, such as `/mode/new`; the command line itself is `''`. */
export type CompletedCommand = {
  path: string
  description: string
  /** The commands below it, or the words that it takes. */
  commands: readonly { name: string; description: string }[]
  options: readonly CompletedOption[]
}

/** `values`: what may follow it; `any`: a name or file, `none`: it takes nothing. */
export type CompletedOption = { flags: readonly string[]; description: string; values: readonly string[] | 'any' | 'none' }

/** The shells that have a script. */
export const shells = ['bash', 'zsh', 'fish'] as const

type Table = readonly CompletedCommand[]

/** The script that a shell reads; its head says how. */
export const completionScripts: Readonly<Record<(typeof shells)[number], (table: Table) => string>> = { bash, zsh, fish }

function bash(table: Table): string {
  return `# Completion of cluster-sync for bash. To have it always:
#   cluster-sync completion bash > ~/.local/share/bash-completion/completions/cluster-sync
_cluster_sync() {
  local current=\${COMP_WORDS[COMP_CWORD]} at= word words= options=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at/$word" in ${paths(table)}) at="$at/$word" ;; esac
  done
  COMPREPLY=()
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${valueCases(table, (values) => (values === 'any' ? 'return' : `words=${shellWord(values.join(' '))}`))}
    *)
      case "$at" in
${wordCases(table)}
      esac
      # Where no word is offered, bash offers files.
      if [[ $current == -* ]]; then words=$options; fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _cluster_sync cluster-sync
`
}

function zsh(table: Table): string {
  const described = table.map(({ path, commands, options }) => {
    const rows = [
      ...commands.map(({ name, description }) => `${name}:${description}`),
      ...options.flatMap(({ flags, description }) => flags.map((flag) => `${flag}:${description}`)),
    ]
    return `    ${shellWord(path)}) described=(${rows.map((row) => shellWord(row)).join(' ')}) ;;`
  })
  return `#compdef cluster-sync
# Completion of cluster-sync for zsh. To have it always, with a folder of $fpath:
#   cluster-sync completion zsh > ~/.zfunc/_cluster-sync
_cluster_sync() {
  local at= word
  local -a described
  for word in \${words[2,CURRENT-1]}; do
    case "$at/$word" in ${paths(table)}) at="$at/$word" ;; esac
  done
  case "$at \${words[CURRENT-1]}" in
${valueCases(table, (values) => (values === 'any' ? '_files; return' : `compadd -- ${values.map((one) => shellWord(one)).join(' ')}; return`))}
  esac
  case "$at" in
${described.join('\n')}
  esac
  _describe 'cluster-sync' described
  [[ \${words[CURRENT]} == -* ]] || _files
}
if [ "$funcstack[1]" = _cluster-sync ]; then _cluster_sync "$@"; else compdef _cluster_sync cluster-sync; fi
`
}

function fish(table: Table): string {
  const rows = table.flatMap(({ path, commands, options }) => {
    const where = `-n ${shellWord(`__cluster_sync_at '${path}'`)}`
    return [
      ...commands.map(({ name, description }) => `complete -c cluster-sync ${where} -a ${name} -d ${shellWord(description)}`),
      ...options.map(({ flags, description, values }) => {
        const named = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(' ')
        const takes = values === 'none' ? '' : values === 'any' ? ' -r -F' : ` -x -a ${shellWord(values.join(' '))}`
        return `complete -c cluster-sync ${where} ${named}${takes} -d ${shellWord(description)}`
      }),
    ]
  })
  return `# Completion of cluster-sync for fish. To have it always:
#   cluster-sync completion fish > ~/.config/fish/completions/cluster-sync.fish
function __cluster_sync_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    contains -- "$at/$word" ${table.flatMap(({ path }) => (path === '' ? [] : [path])).join(' ')}; and set at "$at/$word"
  end
  test "$at" = "$argv[1]"
end
${rows.join('\n')}
`
}

/** A pattern of \`case\` that matches the path of each command. */
function paths(table: Table): string {
  return table.flatMap(({ path }) => (path === '' ? [] : [path])).join(' | ')
}

/** What may stand behind an option that takes something. */
function valueCases(table: Table, then: (values: readonly string[] | 'any') => string): string {
  const cases = table.flatMap(({ path, options }) =>
    options.flatMap(({ flags, values }) =>
      values === 'none' ? [] : [`    ${flags.map((flag) => shellWord(`${path} ${flag}`)).join(' | ')}) ${then(values)} ;;`],
    ),
  )
  return cases.join('\n')
}

/** What may stand at the place of the next word. */
function wordCases(table: Table): string {
  const cases = table.map(({ path, commands, options }) => {
    const words = commands.map(({ name }) => name).join(' ')
    const flags = options.flatMap((option) => option.flags).join(' ')
    return `        ${shellWord(path)}) words=${shellWord(words)} options=${shellWord(flags)} ;;`
  })
  return cases.join('\n')
}
