# Sourced with a code, and `tail` where the shell goes on: then nothing may change. `back` only returns the code.
# Every command is quoted against aliases, and the builtin itself, whatever functions there are.
\builtin test "${2-}" = back && \builtin return "$1"
# How the command has ended is waited for.
\builtin test "${2-}" || \builtin printf '%s\0%s\0' "${1-}" "$PWD" >|@CODE@
# The dump must not be what ends a shell with a limit on files. For a user, `unlimited` succeeds whatever the hard limit is.
\builtin test "${2-}" || \builtin ulimit -S -f 65536 || \builtin trap '' XFSZ
\builtin test "${2-}" || \builtin ulimit -S -f unlimited || \builtin :
\builtin printf '%s\n' "$SHELLOPTS" >|@OUT@
# A trace could go into the dump (BASH_XTRACEFD).
\builtin test "${2-}" || \builtin set +eux
{
\builtin shopt -s -p || \builtin :
\builtin printf '\0'
\builtin pwd || \builtin :
\builtin printf '\0'
\builtin umask
\builtin printf '\0'
\builtin alias -p
\builtin printf '\0'
\builtin trap -p
\builtin printf '\0'
\builtin declare -F
\builtin printf '\0'
\builtin declare -f
\builtin printf '\0'
\builtin declare -p
\builtin printf '\0'
# In a function that called exit: its locals, then every variable down to the global one. Outside of functions `local` fails.
# `declare -g` leaves a mark where there is none; unset from a function below takes one layer away, but for what bash makes anew.
\builtin local -p && \builtin shopt -u expand_aliases && \builtin eval '
\builtin echo
\builtin shopt -u localvar_unset extdebug
\builtin set -B +kT
agent_bash_uncover () {
  \builtin test "${#FUNCNAME[@]}" -lt "$2" && \builtin declare -p "$1" || \builtin return 0
  \builtin unset -n "$1"
  \builtin unset -v "$1" && agent_bash_uncover "$1" "$2"
}
\builtin eval \builtin set -- '\''"${!'\''{A..Z}'\''@}"'\'' '\''"${!'\''{a..z}'\''@}"'\'' '\''"${!_@}"'\''
while \builtin test "$#" -gt 0; do
  case "$1" in
    BASH* | COMP_WORDBREAKS | DIRSTACK | EPOCH* | EUID | FUNCNAME | GROUPS | HISTCMD | LINENO | PIPESTATUS | PPID | RANDOM | SECONDS | SHELLOPTS | SRANDOM | UID | _) ;;
    *)
      \builtin declare -g "$1"
      agent_bash_uncover "$1" "$((2 * ${#FUNCNAME[@]} + 2))"
      ;;
  esac
  \builtin shift
done
' || \builtin :
# Folders may hold newlines, so that each ends with NUL.
\builtin printf '\0%s\0' "${#DIRSTACK[@]}"
\builtin printf '%s\0' "${DIRSTACK[@]-}"
\builtin printf 'end\0'
} >>@OUT@
\builtin return "${1-0}"
