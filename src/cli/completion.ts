import type { CliCommand } from "./cli-command.ts";
import { oneOf, readValue } from "./values.ts";

/** Each script passes the words so far to `berth __complete`, which prints one candidate per line. */
export const completionScripts = {
  bash: `# berth completion for bash. In ~/.bashrc: source <(berth completion bash)
_berth() {
  local IFS=$'\\n'
  COMPREPLY=($(berth __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}
complete -o default -F _berth berth`,
  zsh: `#compdef berth
# berth completion for zsh. In ~/.zshrc: source <(berth completion zsh)
_berth() {
  local -a lines candidates
  local line
  lines=("\${(@f)$(berth __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#candidates} )); then _describe berth candidates; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _berth berth
# From a folder of $fpath this file is the function itself, and is called for the first word.
[[ $funcstack[1] != _berth ]] || _berth "$@"`,
  fish: `# berth completion for fish. In ~/.config/fish/config.fish: berth completion fish | source
function __berth_complete
  set -l words (commandline -opc) (commandline -ct)
  berth __complete -- $words[2..-1] 2>/dev/null
end
complete -c berth -e
complete -c berth -a '(__berth_complete)'`,
} as const;

type Shell = keyof typeof completionScripts;
const shells: readonly Shell[] = ["bash", "zsh", "fish"];

export const completion: CliCommand = {
  args: [["<shell>", "bash, zsh or fish"]],
  help: `
bash: source <(berth completion bash)       in ~/.bashrc
zsh:  source <(berth completion zsh)        in ~/.zshrc
fish: berth completion fish | source        in ~/.config/fish/config.fish`,
  completes: async () => shells,
  async run({ args: [shell = ""], print }) {
    print(completionScripts[readValue("<shell>", shell, oneOf(...shells))]);
    return undefined;
  },
};
