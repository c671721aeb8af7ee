# manpage.sh COMMAND VERSION FOLDER [BIDS]: the command's own help as manual pages in FOLDER, hotfiber.1 and
# hotfiber-SUBCOMMAND.1, and that of hotfiber-bids where its path is given. Nothing is written twice: lists, summaries,
# explanations and options are those that --help prints.
set -eu
command=$1
version=$2
folder=$3
name=$(basename "$command")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Help text of a subcommand -> roff. Indented lines are examples and stay literal, "  -x VALUE  text" under "options"
# become tagged paragraphs, the rest is filled.
cat >"$work/roff.awk" <<'AWK'
function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/)
        text = "\\&" text
    return text
}
function plain() { if (literal) print ".fi\n.RE"; literal = 0 }
/^options that every subcommand has:$/ { options = 1; plain(); print ".SH OPTIONS OF EVERY SUBCOMMAND"; next }
NR == 1 {
    summary = $0
    sub(/^[^:]*: /, "", summary)
    print ".SH NAME\n" escaped(title) " \\- " escaped(summary)
    next
}
/^usage: / {
    sub(/^usage: /, "")
    print ".SH SYNOPSIS\n.B " escaped($0) "\n.SH DESCRIPTION"
    next
}
/^examples:$/ { options = 0; plain(); print ".SH EXAMPLES"; next }
/^((common )?options(, [a-z, ]*)?|names for --[a-z]*):$/ {
    names = /^names/
    options = 1
    plain()
    sub(/:$/, "")
    print ".SH " escaped(toupper($0))
    next
}
/^$/ { plain(); if (!options && described) print ".PP"; next }
(options && /^  -/) || (names && /^  [a-z]/) {
    sub(/^  /, "")
    at = match($0, /   */) # the gap before the text; a long option has none and its text on the next line
    print ".TP\n.B " escaped(at ? substr($0, 1, at - 1) : $0)
    if (at)
        print escaped(substr($0, at + RLENGTH))
    next
}
options { sub(/^ */, ""); print escaped($0); next }
{ described = 1 }
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

escaped() { sed "s/\\\\/\\\\e/g; s/-/\\\\-/g; s/^[.']/\\\\\\&&/"; }
begin() { # begin NAME
    printf '.TH %s 1 "" "%s %s" "User Commands"\n' "$(echo "$1" | tr "[:lower:]" "[:upper:]" | escaped)" "$name" \
        "$version"
}

"$command" --help >"$work/list"
subcommands=$(sed -n '/^usage:/,/^`/s/^  \([a-z][a-z0-9-]*\)  .*/\1/p' "$work/list")
[ -n "$subcommands" ] || { echo "manpage.sh: no subcommands in the help of $command" >&2; exit 1; }
mkdir -p "$folder"
{
    begin "$name"
    printf '.SH NAME\n%s \\- %s\n' "$name" "$(sed -n '1s/^[^:]*: //p' "$work/list" | escaped)"
    printf '.SH SYNOPSIS\n.B %s\n.I SUBCOMMAND\n[options]\n' "$name"
    printf '.SH DESCRIPTION\n'
    sed -n '/^`/,$p' "$work/list" | escaped
    printf '.SH SUBCOMMANDS\nEach has a page of its own.\n'
    for subcommand in $subcommands; do
        printf '.TP\n.BR %s\\-%s (1)\n' "$name" "$subcommand"
        sed -n "s/^  $subcommand  *//p" "$work/list" | escaped
    done
    printf '.SH EXIT STATUS\n0: done. 1: failed, with one line on standard error. 2: wrong usage.\n'
} >"$folder/$name.1"
for subcommand in $subcommands; do
    page="$folder/$name-$subcommand.1"
    begin "$name-$subcommand" >"$page"
    if "$command" "$subcommand" --help >"$work/help" 2>/dev/null; then
        awk -v title="$name-$subcommand" -f "$work/roff.awk" "$work/help" >>"$page"
    else # the viewer may not have been built
        printf '.SH NAME\n%s\\-%s \\- %s (not in this build)\n' "$name" "$subcommand" \
            "$(sed -n "s/^  $subcommand  *//p" "$work/list" | escaped)" >>"$page"
    fi
    printf '.SH SEE ALSO\n.BR %s (1)\n' "$name" >>"$page"
done
if [ -n "${4:-}" ] && "$4" --help >"$work/help" 2>/dev/null; then
    {
        begin "$name-bids"
        printf '.SH NAME\n%s\\-bids \\- every diffusion scan of a BIDS data set, to derivatives\n' "$name"
        printf '.SH DESCRIPTION\n.nf\n'
        escaped <"$work/help"
        printf '.fi\n.SH SEE ALSO\n.BR %s (1)\n' "$name"
    } >"$folder/$name-bids.1"
fi
for page in "$folder/$name".1 "$folder/$name"-*.1; do
    gzip -9nf "$page"
done
