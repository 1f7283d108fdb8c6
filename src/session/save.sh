\builtin test "${2-}" = back && \builtin return "$1"
\builtin test "${2-}" || \builtin printf %s "${1-}" >|@CODE@
\builtin set +o >|@OUT@
\builtin test "${2-}" || \builtin set +eux
{
\builtin shopt -p || \builtin :
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
\builtin local -p && \builtin eval '
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
\builtin printf '\0%s\0' "${#DIRSTACK[@]}"
\builtin printf '%s\0' "${DIRSTACK[@]-}"
\builtin printf 'end\0'
} >>@OUT@
\builtin return "${1-0}"
