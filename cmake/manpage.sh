# manpage.sh COMMAND VERSION: the command's own help as a manual page, on standard output. Nothing is written twice:
# list, summaries, explanations and options are those that --help prints.
set -eu
command=$1
version=$2
name=$(basename "$command")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Help text -> roff. Indented lines stay as they are (examples), "  -x VALUE  text" under "options:" become tagged
# paragraphs, the rest is filled. part=begin prints up to the common options, part=end these.
cat >"$work/roff.awk" <<'AWK'
function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/)
        text = "\\&" text
    return text
}
function plain() { if (literal) print ".fi\n.RE"; literal = 0 }
/^options that every subcommand has:$/ { common = 1; options = 1; plain(); next }
(part == "end") != (common == 1) { next }
NR == 1 {
    summary = $0
    sub(/^[^:]*: /, "", summary)
    print ".SS \"" escaped(title) "\"\n" toupper(substr(escaped(summary), 1, 1)) substr(escaped(summary), 2) "."
    next
}
/^usage: / { sub(/^usage: /, ""); print ".PP\n.B " escaped($0); next }
/^options:$/ { options = 1; plain(); next }
/^$/ { plain(); if (!options) print ".PP"; next }
options && /^  -/ {
    sub(/^  /, "")
    at = match($0, /   */) # the gap before the text; a long option has none and its text on the next line
    print ".TP\n.B " escaped(at ? substr($0, 1, at - 1) : $0)
    if (at)
        print escaped(substr($0, at + RLENGTH))
    next
}
options { sub(/^ */, ""); print escaped($0); next }
/^  / {
    if (!literal)
        print ".RS 2\n.nf"
    literal = 1
    print escaped(substr($0, 3))
    next
}
{ plain(); print escaped($0) }
END { plain() }
AWK

"$command" --help >"$work/list"
summary=$(sed -n '1s/^[^:]*: //p' "$work/list" | sed 's/-/\\-/g')
printf '.TH %s 1 "" "%s %s" "User Commands"\n' "$(echo "$name" | tr '[:lower:]' '[:upper:]')" "$name" "$version"
printf '.SH NAME\n%s \\- %s\n' "$(echo "$name" | sed 's/-/\\-/g')" "$summary"
subcommands=$(sed -n '/^usage:/,/^`/s/^  \([a-z][a-z0-9-]*\)  .*/\1/p' "$work/list")
[ -n "$subcommands" ] || { echo "manpage.sh: no subcommands in the help of $command" >&2; exit 1; }
printf '.SH SYNOPSIS\n.B %s\n.I SUBCOMMAND\n[options]\n' "$name"
printf '.SH DESCRIPTION\n'
sed -n '/^`/,$p' "$work/list" | sed 's/\\/\\e/g; s/-/\\-/g'
printf '.SH SUBCOMMANDS\n'
for subcommand in $subcommands; do
    if ! "$command" "$subcommand" --help >"$work/help" 2>/dev/null; then # the viewer may not have been built
        sed -n "s/^  $subcommand  *\\(.*\\)/.SS \"$name $subcommand\"\\n\\1. (Not in this build.)/p" "$work/list" |
            sed 's/-/\\-/g'
        continue
    fi
    awk -v part=begin -v title="$name $subcommand" -f "$work/roff.awk" "$work/help"
done
printf '.SH COMMON OPTIONS\nEvery subcommand has these.\n'
awk -v part=end -f "$work/roff.awk" "$work/help"
printf '.SH EXIT STATUS\n0: done. 1: failed, with one line on standard error. 2: wrong usage.\n'
