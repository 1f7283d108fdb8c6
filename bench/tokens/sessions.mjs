// The sum over whole sessions, with the recalls that a reader would need.
//
// A recall is needed if one of the next commands of a session uses a word that the model can only know from lines that
// a view left out: a path, a name, a hash. It costs the tokens of that gap and of an extra turn.
import { linesOf } from './inverse.mjs';

/** Tokens of an extra turn, about. */
const TURN = 300;
/** The next commands that are looked at. */
const NEXT = 10;
/** Words that a model would not guess. */
const WORD = /[\w@][\w@./:-]{6,}[\w]/g;

const wordsOf = (text) => text.match(WORD) ?? [];

/** The gaps of a view, as the text of their lines. */
function gapsOf(view, output) {
  const lines = { stdout: linesOf(output.stdout), stderr: linesOf(output.stderr) };
  return view.elided.map(({ stream, fromLine, toLine }) => lines[stream].slice(fromLine - 1, toLine).join('\n'));
}

/** Follows one session. `add` takes its results in order, `finish` returns the tokens before, after, and recalled. */
export function followSession(count) {
  const calls = [];
  return {
    add({ output, view, before, after }) {
      calls.push({
        command: output.command,
        before,
        after,
        shown: view?.text ?? output.stdout + output.stderr,
        gaps: view ? gapsOf(view, output) : [],
      });
    },
    finish() {
      const known = new Set();
      const sum = { calls: calls.length, before: 0, after: 0, recalls: 0, recalled: 0 };
      for (const [at, { command, before, after, shown, gaps }] of calls.entries()) {
        sum.before += before;
        sum.after += after;
        for (const word of [...wordsOf(command), ...wordsOf(shown)]) known.add(word);
        const next = calls.slice(at + 1, at + 1 + NEXT).flatMap((call) => wordsOf(call.command));
        const unknown = new Set(next.filter((word) => !known.has(word)));
        for (const gap of unknown.size === 0 ? [] : gaps) {
          if (!wordsOf(gap).some((word) => unknown.has(word))) continue;
          sum.recalls += 1;
          sum.recalled += count(gap) + TURN;
        }
      }
      return sum;
    },
  };
}

/** Sums the figures of sessions. */
export function sumSessions(sessions) {
  const total = { sessions: sessions.length, calls: 0, before: 0, after: 0, recalls: 0, recalled: 0 };
  for (const session of sessions) {
    for (const key of ['calls', 'before', 'after', 'recalls', 'recalled']) total[key] += session[key];
  }
  return total;
}
