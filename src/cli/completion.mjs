// `commonplace completion bash|zsh|fish`: prints the completion script of a shell for commands, clients and options.

/** @typedef {{ commands: readonly string[], options: Record<string, readonly string[]>, words: Record<string, readonly string[]> }} Known */

const PROGRAMS = ['commonplace', 'commonplace-mcp']
export const SHELLS = ['bash', 'zsh', 'fish']

/** Returns the cases of a shell: the words that may follow each command. @param {Known} known */
function cases({ commands, options, words }) {
  const firsts = [...new Set(commands.map((name) => name.split(' ')[0] ?? ''))]
  return firsts.map((first) => {
    const further = commands.filter((name) => name.startsWith(`${first} `)).map((name) => name.split(' ')[1] ?? '')
    const flags = commands
      .filter((name) => name === first || name.startsWith(`${first} `))
      .flatMap((name) => options[name] ?? [])
    return { first, next: [...further, ...(words[first] ?? [])], flags: [...new Set(flags)].map((flag) => `--${flag}`) }
  })
}

/** @param {Known} known */
function bash(known) {
  const rows = cases(known)
  return `# commonplace completion for bash: eval "$(commonplace completion bash)"
_commonplace() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${rows.map(({ first }) => first).join(' ')}"
  else
    case "\${COMP_WORDS[1]}" in
${rows
  .map(
    ({ first, next, flags }) =>
      `      ${first}) case "$word" in -*) words="${flags.join(' ')}" ;; *) [ "$COMP_CWORD" -eq 2 ] && words="${next.join(' ')}" ;; esac ;;`,
  )
  .join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _commonplace ${PROGRAMS.join(' ')}
`
}

/** @param {Known} known */
function zsh(known) {
  const rows = cases(known)
  return `#compdef ${PROGRAMS.join(' ')}
# commonplace completion for zsh: eval "$(commonplace completion zsh)"
_commonplace() {
  if (( CURRENT == 2 )); then
    compadd -- ${rows.map(({ first }) => first).join(' ')}
    return
  fi
  case "$words[2]" in
${rows
  .map(
    ({ first, next, flags }) =>
      `    ${first}) if [[ "$PREFIX" == -* ]]; then compadd -- ${flags.join(' ')}; elif (( CURRENT == 3 )) && [[ -n "${next.join(' ')}" ]]; then compadd -- ${next.join(' ')}; else _files; fi ;;`,
  )
  .join('\n')}
  esac
}
compdef _commonplace ${PROGRAMS.join(' ')}
`
}

/** @param {Known} known */
function fish(known) {
  const rows = cases(known)
  const lines = PROGRAMS.flatMap((program) => [
    `complete -c ${program} -n __fish_use_subcommand -f -a '${rows.map(({ first }) => first).join(' ')}'`,
    ...rows.flatMap(({ first, next, flags }) => {
      const after = `-n '__fish_seen_subcommand_from ${first}'`
      return [
        ...(next.length > 0 ? [`complete -c ${program} ${after} -f -a '${next.join(' ')}'`] : []),
        ...flags.map((flag) => `complete -c ${program} ${after} -l ${flag.slice(2)}`),
      ]
    }),
  ])
  return `# commonplace completion for fish: commonplace completion fish | source\n${lines.join('\n')}\n`
}

/** Returns the script of a shell. @param {string} shell @param {Known} known @returns {string | undefined} */
export const completionFor = (shell, known) =>
  Object.entries({ bash, zsh, fish }).find(([name]) => name === shell)?.[1](known)
