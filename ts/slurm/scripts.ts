// The two shell scripts by which a host program runs in the batch step of a job.
//
// A killed srun ends its own step with all of its processes, those that left the session too, and leaves the batch step
// alone. So the batch step starts the program, and the step of a connection passes its streams on:
//
//   srun step: relay ──id──▶ door ──▶ batch step: starts what the relay was given
//                    ◀══ fifos: input, output, errors ══▶
//
// Both meet in a directory of /tmp with a random name. Each opens its fifos for reading and writing first, so that
// nobody waits for a peer that was killed meanwhile.

/** Seconds without a connection after which a job ends that nobody has used, or whose program was killed. */
const UNUSED_S = 600;

/**
 * Returns the script of the job. It ends when the last program has ended with 0, after a goodbye or its lease, and when
 * nobody connects for a while.
 */
export function batchScript(token: string): string {
  return `#!/bin/sh
# The place of agent-bash on this node: it starts the program of each connection.
unset SLURM_EXPORT_ENV
d=/tmp/agent-bash-${token}
(umask 077; mkdir "$d" && mkfifo "$d/door") || exit 1
timer=
trap 'rm -rf "$d"; [ "$timer" ] && kill $timer' 0
trap 'exit 143' TERM
exec 3<>"$d/door" </dev/null
running=0 turn=0 served=
expect() {
  [ "$timer" ] && kill $timer
  (sleep ${UNUSED_S} & trap "kill $!; exit" TERM; wait $!; echo "late $turn" >&3) >/dev/null 2>&1 &
  timer=$!
}
serve() {
  exec 4<>"$d/$1.in" 5<>"$d/$1.out" 6<>"$d/$1.err" || return 1
  exec <"$d/$1.in" >"$d/$1.out" 2>"$d/$1.err" 4>&- 5>&- 6>&-
  text=\`cat "$d/$1.text"\`
  rm -f "$d/$1".*
  echo
  exec /bin/sh -c "$text" 3>&-
}
expect
while read -r word value <&3; do
  case $word in
    come) running=$((running + 1)) turn=$((turn + 1)); { (serve "$value"); echo "gone $?" >&3; } & ;;
    gone) running=$((running - 1)); [ "$value" = 0 ] && served=1
      [ $running = 0 ] && { [ "$served" ] && exit 0; expect; } ;;
    late) [ $running = 0 ] && [ "$value" = $turn ] && exit 0 ;;
  esac
done
`;
}

/**
 * The script of a connection. Its arguments are the token, `/bin/sh`, `-c` and the text to start. The first line that
 * comes back tells that the batch step has opened its ends. A step ends only when all of its processes have ended.
 */
const RELAY = `umask 077; d=/tmp/agent-bash-$1; i=$$; n=0
until [ -p "$d/door" ]; do n=$((n + 1)); [ $n -gt 300 ] && { echo "the job has no place on this node: $d" >&2; exit 1; }; sleep 0.1; done
mkfifo "$d/$i.in" "$d/$i.out" "$d/$i.err" && printf %s "$4" >"$d/$i.text" || exit 1
exec 3<&0 4<>"$d/$i.in" 5<>"$d/$i.out" 6<"$d/$i.out" 7<>"$d/$i.err" 8<"$d/$i.err" </dev/null
echo "come $i" >"$d/door"
read -r line <&6
exec 5>&- 7>&-
cat <&8 >&2 3<&- 4>&- 6<&- &
errors=$!
cat <&3 >&4 2>/dev/null 6<&- 8<&- &
input=$!
exec 3<&- 4>&- 8<&-
cat <&6
kill $input $errors 2>/dev/null`;

/** Starts the program that follows without the variables of a job in which this process may run itself. */
const OUTSIDE =
  'for v in `env | sed -n "s/^\\(S[A-Z]*_[A-Z0-9_]*\\)=.*/\\1/p"`; do case $v in SLURM_CONF) ;; SLURM_*|SBATCH_*|SRUN_*) unset $v ;; esac; done; exec "$@"';

/** Returns the words that start a program of Slurm. */
export function outside(words: readonly string[]): string[] {
  return ['/bin/sh', '-c', OUTSIDE, 'sh', ...words];
}

/** Returns the words to which a text for \`/bin/sh -c\` is appended. It runs in the batch step of the job. */
export function connection(job: readonly string[], token: string): string[] {
  // srun passes on whole lines only, unless it is unbuffered.
  const step = ['--overlap', '--nodes=1', '--ntasks=1', '--relative=0', '--unbuffered', '--mpi=none', '--export=NONE'];
  return outside(['srun', ...job, ...step, '/bin/sh', '-c', RELAY, 'relay', token]);
}
