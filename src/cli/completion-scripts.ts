// Owns the completion scripts of the shells. Each asks `plexus completion words` for the words that fit, so that a script never
// grows old.

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

const bash = `# Completion of plexus for bash. Add this line to ~/.bashrc:  eval "$(plexus completion bash)"
_plexus() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$(printf '%q' "$word")")
  done < <(plexus completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _plexus plexus`;

const zsh = `#compdef plexus
# Completion of plexus for zsh. Add this line to ~/.zshrc, after compinit:  eval "$(plexus completion zsh)"
_plexus() {
  local -a found
  found=("\${(@f)$(plexus completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
if [ "\${funcstack[1]}" = _plexus ]; then _plexus "$@"; else compdef _plexus plexus; fi`;

const fish = `# Completion of plexus for fish. Run once:  plexus completion fish > ~/.config/fish/completions/plexus.fish
function __plexus_words
    set -l typed (commandline -opc)
    set -e typed[1]
    set -l current (commandline -ct)
    set -l found (plexus completion words -- $typed "$current" 2>/dev/null)
    if set -q found[1]
        printf '%s\\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c plexus -f -a '(__plexus_words)'`;

export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
