/** The prose of a file: comments of Rust and TypeScript, names of tests, and the text of Markdown. */
import ts from 'typescript';

/**
 * The comments of Rust source, one entry per line, without their markers. String and character literals are skipped.
 */
function rustComments(source) {
  const found = [];
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|b?r(#*)"[\s\S]*?"\1|b?"(?:\\[\s\S]|[^"\\])*"|b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])'|\n/g;
  let line = 1;
  for (const { 0: text, index } of source.matchAll(token)) {
    if (text.startsWith('//')) {
      const before = source.slice(source.lastIndexOf('\n', index - 1) + 1, index);
      found.push({ line, text: text.replace(/^\/\/[/!]?/, ''), own: before.trim() === '' });
    }
    line += text.split('\n').length - 1;
  }
  return found;
}

/** The comments of TypeScript or JavaScript source, like `rustComments`, and the names of its tests. */
function scriptComments(path, source) {
  const tree = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const ranges = new Map();
  const names = [];
  const lineOf = (position) => tree.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node) => {
    for (const range of ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []) ranges.set(range.pos, range);
    for (const range of ts.getTrailingCommentRanges(source, node.getEnd()) ?? []) ranges.set(range.pos, range);
    const name = ts.isCallExpression(node) && testName(node);
    if (name) names.push({ line: lineOf(name.getStart()), text: name.text });
    for (const child of node.getChildren(tree)) visit(child);
  };
  visit(tree);
  const comments = [...ranges.values()]
    .sort((a, b) => a.pos - b.pos)
    .flatMap(({ pos, end }) => {
      const before = source.slice(source.lastIndexOf('\n', pos - 1) + 1, pos);
      const lines = source.slice(pos, end).split('\n');
      return lines.map((text, at) => ({
        line: lineOf(pos) + at,
        text: text.replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)/, '').replace(/\*\/$/, ''),
        own: at > 0 || before.trim() === '',
        block: pos,
      }));
    });
  return { comments, names };
}

/** The literal that names a test: the first argument of `test`, `it` or `describe`, with any modifiers. */
function testName(call) {
  const [name] = call.arguments;
  if (!name || !ts.isStringLiteralLike(name)) return null;
  return /^(?:test|it|describe)\b/.test(call.expression.getText()) ? name : null;
}

/** A paragraph of prose, of lines that follow each other: `lineAt` finds the line of an offset in `text`. */
function paragraphOf(lines, extra) {
  let text = '';
  const starts = [];
  for (const { line, text: part } of lines) {
    if (text) text += ' ';
    starts.push([text.length, line]);
    text += part.trim();
  }
  // Spans of code and URLs keep their length, so offsets stay true.
  const plain = text.replace(/(`+)(?:(?!\1).)+?\1|https?:\/\/\S+|<!--.*?-->|\]\([^)]*\)/g, (span) =>
    '·'.repeat(span.length),
  );
  const lineAt = (offset) => starts.findLast(([start]) => start <= offset)?.[1] ?? lines[0].line;
  return { text: plain, lineAt, start: false, constant: false, heading: false, ...extra };
}

/** Groups comment lines into paragraphs. A blank line, a list item and a code block end a paragraph. */
function paragraphsOf(comments, source) {
  const paragraphs = [];
  let open = [];
  let fenced = false;
  let first = true;
  const rows = source.split('\n');
  const close = () => {
    if (open.length > 0) {
      const next = rows.slice(open.at(-1).line).find((row) => !/^\s*(?:#\[|\*\/)/.test(row)) ?? '';
      const constant = first && /^\s*(?:pub(?:\([^)]*\))? )?(?:export )?(?:const (?!fn)|static )/.test(next);
      paragraphs.push(paragraphOf(open, { start: first, constant }));
      first = false;
    }
    open = [];
  };
  let before = null;
  for (const comment of comments) {
    const joined =
      before && comment.line === before.line + 1 && comment.own && before.own && comment.block === before.block;
    // Lines of `//` are one comment if they follow each other.
    const follows =
      joined || (before && comment.line === before.line + 1 && comment.own && before.own && isLine(rows, comment));
    if (!follows) {
      close();
      first = true;
      fenced = false;
    }
    before = comment;
    const text = comment.text.trim();
    if (text.startsWith('```')) {
      close();
      fenced = !fenced;
      continue;
    }
    if (fenced) continue;
    if (text === '' || text.startsWith('#')) {
      close();
      continue;
    }
    if (/^(?:[-*|]|\d+\.|@\w)/.test(text)) close();
    open.push({ line: comment.line, text: text.replace(/^@\w+(?: \{[^}]*\})?/, '') });
  }
  close();
  return paragraphs;
}

const isLine = (rows, { line }) => /^\s*\/\//.test(rows[line - 1]);

function markdown(source) {
  const paragraphs = [];
  const lines = [];
  let open = [];
  let fenced = null;
  const close = () => {
    if (open.length > 0) paragraphs.push(paragraphOf(open, {}));
    open = [];
  };
  for (const [at, text] of source.split('\n').entries()) {
    const line = at + 1;
    const fence = /^\s*(```+|~~~+)/.exec(text)?.[1];
    if (fence && (!fenced || text.trim() === fenced)) {
      close();
      fenced = fenced ? null : fence;
      continue;
    }
    if (fenced || text.trim() === '') {
      close();
      continue;
    }
    lines.push({ number: line, wraps: true });
    if (text.startsWith('#')) {
      close();
      paragraphs.push(paragraphOf([{ line, text }], { heading: true }));
      continue;
    }
    if (/^\s*(?:[-*|]|\d+\.)\s/.test(text)) close();
    open.push({ line, text });
  }
  close();
  return { lines, paragraphs };
}

/**
 * The prose of a file: `lines` with their numbers, and `paragraphs` whose `text` has its spans of code blotted out.
 */
export function proseOf(path, source) {
  if (path.endsWith('.md')) return markdown(source);
  const { comments, names } = path.endsWith('.rs')
    ? { comments: rustComments(source), names: [] }
    : scriptComments(path, source);
  const counted = comments.filter(({ text }) => text.trim() !== '');
  return {
    lines: [
      ...counted.map(({ line }) => ({ number: line, wraps: true })),
      ...names.map(({ line }) => ({ number: line, wraps: false })),
    ],
    paragraphs: [...paragraphsOf(comments, source), ...names.map((name) => paragraphOf([name], {}))],
  };
}
