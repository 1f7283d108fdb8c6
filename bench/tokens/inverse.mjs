// The inverse of a view, written from its description alone: docs/tokens.md. It shares nothing with src/reduce.

const REPEAT = /^\[x(\d+)\]$/;
const BLOCK = /^\[last (\d+) lines x(\d+)\]$/;
const HEADING = /^(.*) \[(\d+) lines\]$/s;
const COUNTER = /\[( *)(\d{1,15})\.\.(\d{1,15})(?: by (\d{1,15}))?\]/g;
const LONG = (line) => new RegExp(`\\[\\.\\.\\. ([\\d,]+) characters of L${line}\\]`);

/** A line that a view shows: its text, the text as it reads there, and the heading above it. */
const shownLine = (text, verbatim, heading) => ({ text, verbatim, heading });

/** The counters of a line, each with the number of its lines. */
function countersOf(line) {
  const counters = [...line.matchAll(COUNTER)].map(([mark, blanks, first, last, by = '1']) => {
    const lines = Math.abs(Number(last) - Number(first)) / Number(by) + 1;
    return { mark, blanks, first, step: Math.sign(Number(last) - Number(first)) * Number(by), lines };
  });
  return counters.filter(({ lines }) => Number.isInteger(lines) && lines >= 3);
}

/** The lines that one line of a series stands for. */
function seriesOf(line, counters) {
  const written = ({ blanks, first, step }, at) => {
    const number = String(Number(first) + step * at);
    if (/^0\d/.test(first)) return blanks + number.padStart(first.length, '0');
    return number.padStart(blanks === '' ? 0 : blanks.length + first.length);
  };
  return Array.from({ length: counters[0].lines }, (_, at) => {
    let rest = line;
    let whole = '';
    for (const counter of counters) {
      const place = rest.indexOf(counter.mark);
      whole += rest.slice(0, place) + written(counter, at);
      rest = rest.slice(place + counter.mark.length);
    }
    return whole + rest;
  });
}

/**
 * Reads the lines of a view. Returns them and its gaps, in order: `{ text, verbatim, heading }` for a line,
 * `{ from, to }` for a gap. `kinds` says which marks the output itself cannot have contained.
 */
function readLines(lines, { repeats, headings, series, gaps }) {
  const read = [];
  let open = [];
  for (const line of lines) {
    const gap = gaps.find((each) => each.marker === line);
    const repeat = repeats && REPEAT.exec(line);
    const block = repeats && BLOCK.exec(line);
    const heading = headings && HEADING.exec(line);
    const counters = series ? countersOf(line) : [];
    if (counters.length > 0) {
      read.push(...seriesOf(line, counters).map((each) => shownLine(each, each, '')));
    } else if (gap) {
      read.push({ from: gap.from, to: gap.to });
    } else if (repeat || block) {
      const size = repeat ? 1 : Number(block[1]);
      const again = read.slice(-size);
      if (again.length < size) throw new Error(`nothing to repeat: ${line}`);
      for (let count = 1; count < Number(repeat ? repeat[1] : block[2]); count++) read.push(...again);
    } else if (heading) {
      open.push({ prefix: heading[1], left: Number(heading[2]) });
    } else {
      const prefix = open.map((each) => each.prefix).join('');
      read.push(shownLine(prefix + line, line, prefix));
      for (const each of open) each.left--;
      open = open.filter(({ left }) => left > 0);
    }
  }
  if (open.length > 0) throw new Error(`a heading without its lines: ${open[0].prefix}`);
  return read;
}

/** Which marks a text does not contain itself: only those may be in its view. */
export function marksOf(text) {
  const lines = text.split('\n');
  const none = (pattern) => !lines.some((line) => pattern.test(line));
  return {
    repeats: none(REPEAT) && none(BLOCK),
    headings: none(/ \[\d+ lines\]$/),
    series: !lines.some((line) => countersOf(line).length > 0),
  };
}

const markerOf = (stream, from, to) =>
  `[... ${stream === 'stderr' ? 'stderr ' : ''}L${from === to ? from : `${from}-${to}`}]`;

/** The lines of a text, without the newline that ends the last one. */
export const linesOf = (text) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Separates the streams of a view. */
function streamsOf(text, { stdout, stderr }) {
  if (stderr === '') return { stdout: text, stderr: '' };
  if (stdout === '') return { stdout: '', stderr: text.slice('stderr:\n'.length) };
  const outLabel = 'stdout:\n';
  const errLabel = '\nstderr:\n';
  if (!text.startsWith(outLabel)) throw new Error('no label of stdout');
  const at = text.lastIndexOf(errLabel);
  if (at < 0) throw new Error('no label of stderr');
  return { stdout: text.slice(outLabel.length, at), stderr: text.slice(at + errLabel.length) };
}

/**
 * Reads a view of an output. Returns its lines per stream, as `readLines` does, with the text of lines whose middle is
 * left out completed from the output.
 */
export function readView(view, output) {
  const texts = streamsOf(view.text, output);
  const before = { stdout: 0, stderr: linesOf(output.stdout).length };
  const read = {};
  for (const stream of ['stdout', 'stderr']) {
    const own = view.elided.filter((each) => each.stream === stream);
    const number = (line) => line + before[stream];
    const gaps = own
      .filter(({ why }) => why !== 'long')
      .map(({ fromLine, toLine }) => ({
        from: fromLine,
        to: toLine,
        marker: markerOf(stream, number(fromLine), number(toLine)),
      }));
    const lines = readLines(linesOf(texts[stream]), { ...marksOf(output[stream]), gaps });
    const originals = linesOf(output[stream]);
    for (const { fromLine } of own.filter(({ why }) => why === 'long')) {
      const found = lines.find((line) => line.text !== undefined && LONG(number(fromLine)).test(line.text));
      if (!found) throw new Error(`no long line ${fromLine}`);
      const [mark, count] = LONG(number(fromLine)).exec(found.text);
      const at = found.text.indexOf(mark);
      const original = originals[fromLine - 1];
      const start = found.text.slice(0, at);
      const end = found.text.slice(at + mark.length);
      const missing = [...original].length - [...start].length - [...end].length;
      if (!original.startsWith(start) || !original.endsWith(end) || missing !== Number(count.replaceAll(',', ''))) {
        throw new Error(`line ${fromLine} is not the one that was shortened`);
      }
      found.text = original;
    }
    read[stream] = lines;
  }
  return read;
}

/** Checks that the lines of a view and those of its gaps are all lines of the output, in order. Throws if not. */
export function checkComplete(read, output) {
  for (const stream of ['stdout', 'stderr']) {
    const originals = linesOf(output[stream]);
    let at = 0;
    for (const each of read[stream]) {
      if (each.text === undefined) {
        if (each.from !== at + 1 || each.to < each.from)
          throw new Error(`${stream}: a gap at line ${at + 1} says ${each.from}`);
        at = each.to;
      } else if (each.text !== originals[at]) {
        throw new Error(
          `${stream} line ${at + 1} reads ${JSON.stringify(each.text)?.slice(0, 200)}, not ${JSON.stringify(originals[at])?.slice(0, 200)}`,
        );
      } else {
        at++;
      }
    }
    if (at !== originals.length) throw new Error(`${stream}: ${at} of ${originals.length} lines`);
  }
}
