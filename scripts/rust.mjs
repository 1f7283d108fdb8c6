/** Reads the modules of a crate: which file uses which. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from './process.mjs';

/** The source with comments, strings and characters blotted out. Offsets and lines stay. */
function bare(source) {
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|\bb?r(#*)"[\s\S]*?"\1|b?"(?:\\[\s\S]|[^"\\])*"|b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])'/g;
  return source.replace(token, (text) => text.replace(/[^\n]/g, ' '));
}

/** The offset after the bracket that closes the one at `open`. */
function closing(text, open) {
  const pairs = { '{': '}', '(': ')', '[': ']' };
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === text[open]) depth++;
    else if (text[at] === pairs[text[open]] && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The offset after the item, field or statement at `start`. */
function itemEnd(text, start) {
  const isItem = /^(?:pub|fn|impl|mod|use|struct|enum|trait|type|const|static|async|unsafe|extern)\b/.test(
    text.slice(start),
  );
  for (let at = start; at < text.length; at++) {
    if (text[at] === '{') return closing(text, at);
    if (text[at] === '}') return at;
    if (text[at] === ';' || (text[at] === ',' && !isItem)) return at + 1;
    if (text[at] === '(' || text[at] === '[') at = closing(text, at) - 1;
  }
  return text.length;
}

/** Blots out the items below `#[cfg(test)]`, and returns the names of the modules among them. */
function withoutTests(text) {
  const tests = new Set();
  let left = text;
  for (const { 0: found, index } of text.matchAll(/#\[cfg\((?:test|all\(test, [^\]]*\))\)\]\s*(?:#\[[^\]]*\]\s*)*/g)) {
    const start = index + found.length;
    const module = /^(?:pub(?:\([^)]*\))? )?mod (\w+);/.exec(text.slice(start));
    if (module) tests.add(module[1]);
    const end = itemEnd(text, start);
    left = left.slice(0, index) + left.slice(index, end).replace(/[^\n]/g, ' ') + left.slice(end);
  }
  return { text: left, tests };
}

/** The paths of a `use` tree, as `{ path, name }`: `a::{b, c as d}` gives `a::b` named b and `a::c` named d. */
function useTree(tree, before = []) {
  const text = tree.trim();
  const brace = text.indexOf('{');
  if (brace < 0) {
    const [path, alias] = text.split(/\s+as\s+/);
    const segments = [...before, ...path.split('::').map((segment) => segment.trim())].filter(Boolean);
    if (segments.at(-1) === 'self') segments.pop();
    return [{ path: segments, name: alias?.trim() ?? segments.at(-1) }];
  }
  const head = text
    .slice(0, brace)
    .split('::')
    .map((segment) => segment.trim());
  const inner = text.slice(brace + 1, closing(text, brace) - 1);
  const parts = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at <= inner.length; at++) {
    if (inner[at] === '{') depth++;
    if (inner[at] === '}') depth--;
    if (at === inner.length || (inner[at] === ',' && depth === 0)) {
      parts.push(inner.slice(from, at));
      from = at + 1;
    }
  }
  return parts.filter((part) => part.trim()).flatMap((part) => useTree(part, [...before, ...head.filter(Boolean)]));
}

const ITEM = /\b(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(\w+)/g;

/** One module that has a file of its own. */
function readModule(file, path) {
  const source = readFileSync(join(root, file), 'utf8');
  const { text, tests } = withoutTests(bare(source));
  const directory = /^(?:mod|lib|main)\.rs$/.test(basename(file)) ? dirname(file) : file.replace(/\.rs$/, '');
  const children = [];
  for (const [, name] of text.matchAll(/^\s*(?:pub(?:\([^)]*\))? )?mod (\w+);/gm)) {
    const at = [join(directory, `${name}.rs`), join(directory, name, 'mod.rs')].find((one) =>
      existsSync(join(root, one)),
    );
    if (at && !tests.has(name)) children.push({ name, file: at });
  }
  // A macro may declare modules by their names alone: `rules! { git_clean, … }`.
  for (const [, inside] of text.matchAll(/^\w+! \{([^{}]*)\}/gm)) {
    for (const [name] of inside.matchAll(/\w+/g)) {
      const at = join(directory, `${name}.rs`);
      if (existsSync(join(root, at))) children.push({ name, file: at });
    }
  }
  // An attribute may choose among files: `#[cfg_attr(…, path = "…")] mod name;`.
  for (const [, at, name] of source.matchAll(/path = "([^"]+)"\)?\]\s*(?:pub(?:\([^)]*\))? )?mod (\w+);/g)) {
    if (!tests.has(name)) children.push({ name, file: join(dirname(file), at) });
  }
  const uses = [...text.matchAll(/\buse\s+([^;]+);/g)].flatMap(([, tree]) => useTree(tree));
  const body = text.replace(/\buse\s+[^;]+;/g, (use) => use.replace(/[^\n]/g, ' '));
  const items = new Set([...body.matchAll(ITEM)].map(([, name]) => name));
  return { file, path, source, text, body, children, uses, items };
}

/** All modules below a file, by their path in the crate, as `run::drive`. */
export function modulesBelow(file, path = '', found = new Map()) {
  const module = readModule(file, path);
  found.set(path, module);
  for (const child of module.children) {
    modulesBelow(child.file, path ? `${path}::${child.name}` : child.name, found);
  }
  return found;
}

const parentOf = (path) => path.split('::').slice(0, -1).join('::');
const joined = (path, name) => (path ? `${path}::${name}` : name);

/** Resolves paths of the crate to the modules that define the items. */
class Resolver {
  constructor(modules) {
    this.modules = modules;
  }

  /** The module that defines the item at a path seen from `from`, or null for a module itself and for other crates. */
  owner(segments, from, seen = new Set()) {
    const key = `${from} ${segments.join('::')}`;
    if (seen.has(key)) return null;
    seen.add(key);
    const [first, ...rest] = segments;
    if (first === 'crate') return this.descend(rest, '', seen);
    if (first === 'self') return this.descend(rest, from, seen);
    if (first === 'super') return this.descend(rest, parentOf(from), seen);
    if (this.modules.has(joined(from, first))) return this.descend(segments, from, seen);
    const use = this.modules.get(from).uses.find(({ name, path }) => name === first && path[0] !== first);
    return use ? this.owner([...use.path, ...rest], from, seen) : null;
  }

  /** The module at a path seen from `from`, if it is one of the crate's own. */
  module(segments, from) {
    const steps = segments[0] === 'crate' ? segments.slice(1) : segments;
    const start = segments[0] === 'crate' ? '' : from;
    const at = steps.reduce((path, step) => {
      if (step === 'self') return path;
      return step === 'super' ? parentOf(path) : joined(path, step);
    }, start);
    return this.modules.get(at);
  }

  descend(segments, at, seen) {
    const [first, ...rest] = segments;
    if (first === undefined) return null;
    if (first === 'super') return this.descend(rest, parentOf(at), seen);
    if (this.modules.has(joined(at, first))) return this.descend(rest, joined(at, first), seen);
    const module = this.modules.get(at);
    if (first === '*' || module.items.has(first)) return at;
    const use = module.uses.find(({ name }) => name === first);
    if (use) return this.owner([...use.path, ...rest], at, seen);
    for (const { path } of module.uses.filter(({ name }) => name === '*')) {
      const found = this.owner([...path.slice(0, -1), first], at, seen);
      if (found !== null) return found;
    }
    return null;
  }
}

/** The edges between files: from each file to the files that define its items, with the path as written. */
export function edgesOf(modules) {
  const resolver = new Resolver(modules);
  const edges = new Map([...modules.values()].map(({ file }) => [file, new Map()]));
  for (const { path, file, uses, body, text } of modules.values()) {
    const lines = (index) => text.slice(0, index).split('\n').length;
    const note = (segments, line) => {
      const owner = resolver.owner(segments, path);
      const to = owner === null ? null : modules.get(owner).file;
      if (to && to !== file && !edges.get(file).has(to))
        edges.get(file).set(to, `${segments.join('::')} (line ${line})`);
    };
    // A re-export alone is no use of the item.
    const exported = new Set(
      [...text.matchAll(/\bpub(?:\([^)]*\))?\s+use\s+([^;]+);/g)].flatMap(([, tree]) =>
        useTree(tree).map(({ name }) => name),
      ),
    );
    for (const { path: segments, name } of uses) {
      const mentioned = (word) => new RegExp(`\\b${word}\\b`).test(body);
      const names = name === '*' ? [...(resolver.module(segments.slice(0, -1), path)?.items ?? [])] : [name];
      if (exported.has(name) && !names.some(mentioned)) continue;
      note(segments, lines(text.indexOf(`${name}`)));
    }
    for (const { 0: written, index } of body.matchAll(/\b[a-z_]\w*(?:::\w+)+/g))
      note(written.split('::'), lines(index));
  }
  return edges;
}
