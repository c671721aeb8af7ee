# completion.sh COMMAND: completion for bash, on standard output, from the command's own help: subcommands, options,
# and the words that an option takes ("a|b|c").
set -eu
command=$1
name=$(basename "$command")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$command" --help >"$work/list"
subcommands=$(sed -n '/^usage:/,/^`/s/^  \([a-z][a-z0-9-]*\)  .*/\1/p' "$work/list")
[ -n "$subcommands" ] || { echo "completion.sh: no subcommands in the help of $command" >&2; exit 1; }
echo "# bash completion for $name; made from its --help"
echo "_$name()
{
    local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} options= words= list=
    if [ \"\$COMP_CWORD\" -eq 1 ]; then
        COMPREPLY=(\$(compgen -W '$(echo $subcommands) help --help --version' -- \"\$word\"))
        return
    fi
    case \${COMP_WORDS[1]} in"
for subcommand in $subcommands; do
    "$command" "$subcommand" --help >"$work/help" 2>/dev/null || continue # the viewer may not have been built
    sed -n 's/^  \(--*[a-zA-Z0-9][a-zA-Z0-9_-]*\)\( .*\)*$/\1/p' "$work/help" | sort -u >"$work/options"
    echo "    $subcommand)"
    echo "        options='$(echo $(cat "$work/options"))'"
    echo "        case \$before in"
    sed -n 's/^  \(--*[a-zA-Z0-9][a-zA-Z0-9_-]*\) \([a-z0-9_-]*|[a-z0-9_|-]*\)\( .*\)*$/        \1) words="\2" ;;/p' \
        "$work/help" | tr '|' ' '
    sed -n '/^names for --outputs:$/,/^$/s/^  \([a-z][a-z0-9_]*\)  .*/\1/p' "$work/help" >"$work/names"
    [ ! -s "$work/names" ] || echo "        --outputs) words='default all maps $(echo $(cat "$work/names"))' list=1 ;;"
    echo "        esac ;;"
done
echo "    help) options='$(echo $subcommands)' ;;
    esac
    if [ -n \"\$list\" ] && [[ \$word == *,* ]]; then # the last of several names
        COMPREPLY=(\$(compgen -P \"\${word%,*},\" -W \"\$words\" -- \"\${word##*,}\"))
    elif [ -n \"\$words\" ]; then
        COMPREPLY=(\$(compgen -W \"\$words\" -- \"\$word\"))
    elif [[ \$word == -* || \${COMP_WORDS[1]} == help ]]; then
        COMPREPLY=(\$(compgen -W \"\$options\" -- \"\$word\"))
    else
        COMPREPLY=(\$(compgen -f -- \"\$word\"))
    fi
}
complete -o filenames -F _$name $name"
