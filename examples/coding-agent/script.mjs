import { posix } from 'node:path';

// The words and commands of the scripted model. It knows one repair by heart, but takes every name, line and text from
// the real output of earlier commands. If the output is unexpected, it says so and stops.

/**
 * @typedef {object} Done An executed command, as the model sees it.
 * @property {string} command
 * @property {string} text Answer of the tool.
 * @property {boolean} ok Whether the exit code was 0.
 *
 * @typedef {{ command: string, mode?: 'slow' | 'background', tail?: number, timeout_ms?: number }} Command
 * @typedef {{ say: string, call?: Command | { check_pid: number } | { kill_pid: number } | { undo_run: string } }} Turn
 */

const LOOP_THAT_STOPS_EARLY = /(for \(let (\w+) = 0; \2 < [\w.]+\.length) - 1; /;

/** Stands for a step that was left out. @type {Done} */
const NOT_DONE = { command: '', text: '', ok: true };

/**
 * Returns the next turn of the repair.
 * @param {Done[]} history
 * @returns {Turn}
 */
export function repair([counts, tests, test, source, audit, fix, again, ...rest]) {
  if (!tests) return lookForFailure(counts);
  const failing = failingTest(tests.text);
  if (!failing) return { say: 'The tests fail, but their output does not say where. I stop here.' };

  const place = `${failing.file}, line ${failing.line}`;
  if (!test)
    return {
      say: `${wasGiven(tests.text) ? 'Nothing had changed, so the tests did not run again. ' : ''}“${failing.name}” fails (${place}): ${failing.expected} was expected, ${failing.actual} came out. I will read the test.`,
      call: { command: `cat ${quoted(failing.file)}` },
    };
  const file = importedFile(stdoutOf(test.text), failing.file);
  if (!test.ok || !file) return { say: `I cannot tell from ${failing.file} which file it tests. I stop here.` };

  if (!source) return { say: `It tests ${file}.`, call: { command: `cat ${quoted(file)}` } };
  const text = `${stdoutOf(source.text)}\n`;
  if (!source.ok || !LOOP_THAT_STOPS_EARLY.test(text))
    return { say: `I see no fault that I know in ${file}. I stop here.` };

  if (!audit)
    return {
      say: 'The loop stops before the last item. How much of last year is wrong because of that? The audit takes a while.',
      call: { command: 'npm run --silent audit', mode: 'slow' },
    };
  if (!fix)
    return {
      say: `${lastLine(stdoutOf(audit.text))}. ${deniedIn(audit.text)}I will let the loop run to the end.`,
      call: {
        command: `cat > ${quoted(file)} <<'EOF'\n${text.replace(LOOP_THAT_STOPS_EARLY, '$1; ')}EOF\ngit diff -U0`,
      },
    };
  if (!fix.ok) return { say: `I could not write ${file}. I stop here.` };

  if (!again) return { say: 'Do the tests pass now?', call: { command: 'npm test', mode: 'slow' } };
  if (!again.ok) return { say: 'The tests still fail: my repair was not the right one. I stop here.' };

  // Changes are known, and can be taken back, only where the machine can record them.
  const [tidy, undone, commit, ...tried] = undoIn(fix.text) ? rest : [NOT_DONE, NOT_DONE, ...rest];
  const detour = tidyUp(tidy, undone);
  if (detour) return detour;

  if (!commit)
    return {
      say: undone === NOT_DONE ? 'They pass. I will commit the repair.' : 'I will commit the repair alone.',
      call: {
        command: `git add ${quoted(file)} && git commit --quiet -m 'Count the last item of a cart' && git log --oneline -1`,
      },
    };
  if (!commit.ok) return { say: 'The repair is made, but git would not commit it.' };
  const next = tryServer(tried, cartOf(stdoutOf(test.text), failing.expected), failing.expected);
  if (next) return next;
  const [id] = stdoutOf(commit.text).split(' ');
  return { say: `Done: ${file} counts every item, the tests pass, and the repair is commit ${id}.` };
}

/**
 * Returns a turn of the search for a test that fails: the counts first, and then the rest of the same output.
 * @param {Done | undefined} counts
 * @returns {Turn}
 */
function lookForFailure(counts) {
  if (!counts)
    return { say: 'I will run the tests first.', call: { command: "npm test 2>&1 | grep '^ℹ'", mode: 'slow' } };
  if (passes(counts)) return { say: 'All tests pass: there is nothing to repair.' };
  return {
    say: `${hiddenIn(counts.text)}I will look for the test that fails.`,
    call: { command: "npm test 2>&1 | grep -A 40 'failing tests'", mode: 'slow' },
  };
}

/**
 * Changes more than the task asks for, sees that by what the tool says, and takes it back.
 * @param {Done | undefined} tidy
 * @param {Done | undefined} undone
 * @returns {Turn | null} The next turn, or `null` at the end.
 */
function tidyUp(tidy, undone) {
  if (!tidy)
    return {
      say: 'They pass. I would rather indent with tabs.',
      call: { command: "sed -i 's/^  /\\t/' src/*.js test/*.js" },
    };
  if (undone) return undone.ok ? null : { say: 'I could not take it back. I stop here.' };
  const run = undoIn(tidy.text);
  if (!run) return { say: 'I cannot tell what that has changed. I stop here.' };
  return {
    say: `That changed ${changedIn(tidy.text)}: the test is no part of the task. I take it back.`,
    call: { undo_run: run },
  };
}

/**
 * Starts the dev server in the background, waits for its port, requests the price of a cart, and stops the server.
 * @param {Done[]} history The commands since the commit.
 * @param {string | null} cart Its items as JSON.
 * @param {string} price The price of the cart.
 * @returns {Turn | null} The next turn, or `null` at the end.
 */
function tryServer([start, address, answer, log, stop], cart, price) {
  if (cart === null) return null;
  if (!start)
    return {
      say: 'Does the shop see it too? I will start its dev server in the background.',
      call: { command: 'npm run --silent dev', mode: 'background' },
    };
  const pid = Number(/^<pid>(\d+)<\/pid>$/m.exec(start.text)?.[1]);
  if (!start.ok || !pid) return { say: 'The repair is committed, but the dev server does not start.' };
  // The server writes its address when its port is open.
  if (!address)
    return {
      say: `It is process ${pid}. I will wait until it listens.`,
      call: { command: "until grep -o 'http://.*' .address 2>/dev/null; do sleep 0.1; done", timeout_ms: 20_000 },
    };
  const url = stdoutOf(address.text).trim();
  if (stop) return null;
  if (!address.ok || !url)
    return answer
      ? { say: 'The repair is committed, but the dev server does not listen.' }
      : { say: 'It does not listen. I will stop it.', call: { kill_pid: pid } };
  if (!answer)
    return {
      say: 'It does. I will ask it for the cart of the test.',
      call: {
        command: `node -e 'fetch(process.argv[1]).then(async (page) => console.log(await page.text()))' ${quoted(`${url}/total?items=${encodeURIComponent(cart)}`)}`,
      },
    };
  if (!log) return { say: 'What does the server say about that?', call: { check_pid: pid } };
  const right = stdoutOf(answer.text).trim() === price;
  return {
    say: `${right ? `It asks ${price} for it, as it should` : 'Its price is another'}. I will stop the server.`,
    call: { kill_pid: pid },
  };
}

/**
 * Returns the next turn in a directory of the user's own. The script only looks around there, changes nothing, and says
 * so.
 * @param {Done[]} history
 * @returns {Turn}
 */
export function lookAround([files, state]) {
  if (!files) return { say: 'I will look around, without changing anything.', call: { command: 'pwd && ls -A' } };
  if (!state)
    return {
      say: 'And is it under git?',
      call: { command: 'git status --short --branch && git log --oneline -3' },
    };
  return {
    say: 'That is as far as I go: I am a script and know one repair by heart. A task of your own needs a real model.',
  };
}

/** @param {string} output */
function failingTest(output) {
  const at =
    /^test at (?<file>[^\n:]+):(?<line>\d+):\d+$/m.exec(output)?.groups ??
    /\(file:\/\/[^\n)]*\/(?<file>test\/[^\n):]+):(?<line>\d+):\d+\)/.exec(output)?.groups;
  if (!at) return null;
  return {
    file: at.file ?? '',
    line: at.line ?? '',
    name: /^\s*✖ (?!failing tests)(.+?) \([\d.]+ms\)$/m.exec(output)?.[1] ?? 'A test',
    expected: /^\s*expected: (.+?),?$/m.exec(output)?.[1] ?? 'something else',
    actual: /^\s*actual: (.+?),?$/m.exec(output)?.[1] ?? 'something',
  };
}

/** Returns the cart of the test with this price, as JSON. @param {string} test @param {string} price */
function cartOf(test, price) {
  for (const [, cart = '', cents] of test.matchAll(/\((\[\{.*?\}\])\), (\d+)\)/g))
    if (cents === price) return cart.replace(/(\w+):/g, '"$1":').replace(/\s+/g, '');
  return null;
}

/** @param {string} test @param {string} testFile */
function importedFile(test, testFile) {
  const specifier = /from '(\.[^']+)'/.exec(test)?.[1];
  return specifier && posix.join(posix.dirname(testFile), specifier);
}

/**
 * Returns the standard output in a text of the tool. It has a name only beside standard error.
 * @param {string} text
 */
function stdoutOf(text) {
  const [, output = ''] = /^(?:\[command [^\n]*\]\n\n)?(.*?)(?:\n\nexit code: \d+)?(?:\n\n\[.*)?$/s.exec(text) ?? [];
  if (output === '(no output)' || output.startsWith('stderr:\n')) return '';
  return /^stdout:\n(.*?)(?:\n\nstderr:\n.*)?$/s.exec(output)?.[1] ?? output;
}

/** Returns the last line of the output, without lines of the tool. @param {string} output */
function lastLine(output) {
  return (
    output
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('['))
      .at(-1) ?? ''
  );
}

/** Returns whether the counts of tests tell of no failure, and the tool of none either. @param {Done} counts */
function passes({ ok, text }) {
  return ok && /^ℹ fail 0$/m.test(text) && !/^\[(?:hidden failure|not known): /m.test(text);
}

/** Says which failure an exit code has hidden. @param {string} output */
function hiddenIn(output) {
  const [, command, code] = /^\[hidden failure: «(.*)» exit code (\d+), behind /m.exec(output) ?? [];
  return command ? `grep ended with 0, but that hides exit code ${code} of “${command}”. ` : '';
}

/** Returns whether a stored result was given in place of a run. @param {string} output */
function wasGiven(output) {
  return output.startsWith('[not run again: ');
}

/** Says what a confinement denied. @param {string} output */
function deniedIn(output) {
  const denied = /^\[confined: (.*)\]$/m.exec(output)?.[1];
  return denied
    ? `The audit also tried something that is no part of the task, and its confinement held: ${denied}. `
    : '';
}

/** Returns the run that the tool offers to undo, or `null`. @param {string} text */
function undoIn(text) {
  return /^\[undo_run "([^"]+)" takes this back\]$/m.exec(text)?.[1] ?? null;
}

/** Returns what a command has changed. @param {string} text */
function changedIn(text) {
  return /^\[changed: \d+ modified \((.*)\)\]$/m.exec(text)?.[1]?.replace(', ', ' and ') ?? 'more than that';
}

/** Quotes a word for the shell. @param {string} word */
function quoted(word) {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
