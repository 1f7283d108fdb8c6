import { type DecideRules, decide } from 'agent-bash';
import { judge, random } from '../support.ts';
import { places, quoted, type Spelling, spellings, steps } from './ways.ts';

/** A command that runs the canary `./x`, if bash expands a text a second time. */
export interface Case {
  script: string;
  /** The text, which is also that of the file `text`. */
  text: string;
  /** Whether the command shows the text, so that a rule can know of it. */
  shown: boolean;
}

function pick<T>(list: readonly T[], next: () => number): T {
  const chosen = list[Math.floor(next() * list.length)];
  if (chosen === undefined) throw new Error('an empty list');
  return chosen;
}

/** Puts a word into a template. */
const fill = (template: string, word: string, at: number) =>
  template.replaceAll('N', `${at}`).replaceAll('WORD', () => word);

/** Brings a text by some steps to a place. */
export function walk(
  text: string,
  spelling: Spelling,
  template: string,
  ways: readonly (typeof steps)[number][],
): Case {
  const use = (word: string, at: number): string => {
    const way = ways[at];
    if (way === undefined) return template.replaceAll('WORD', () => word);
    return fill(way.template, word, at).replace('USE', () => use(way.word.replaceAll('N', `${at}`), at + 1));
  };
  const shown = spelling.shown && !ways.some(({ hides }) => hides);
  return { script: use(spelling.word(text), 0), text, shown };
}

/** Each place with each text in single quotes, and cases with up to two steps before it. */
export function* cases(seed: number, count: number): Generator<Case> {
  const next = random(seed);
  for (let at = 0; at < count; at += 1) {
    const { texts, templates } = pick(places, next);
    const ways = Array.from({ length: Math.floor(next() * 3) }, () => pick(steps, next));
    yield walk(pick(texts, next), pick(spellings, next), pick(templates, next), ways);
  }
}

/** Builtins whose words and options are all tried. `suspend` would stop its shell. */
const builtins =
  '[ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable ' +
  'eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd ' +
  'pwd read readarray readonly return set shift shopt test times trap true type typeset ulimit umask unalias unset wait';

const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const forms = ['@', 'a @', '@ a', 'a=@', '@=1', '-- @', '1 -eq @', 'a b @'];
const optional = ['-? @', '-? a @', '-? @ a', '-? a=@', '-?@', '+? @'];

/** Every builtin with every option and operand that holds such a text. */
export function* operands(): Generator<Case> {
  const texts = ['b[$(./x)]', 'b[`./x`]', '$(./x)', './x', 'a=b[$(./x)]', '([$(./x)]=1)', 'a=($(./x))'];
  const all = [...forms, ...letters.flatMap((letter) => optional.map((form) => form.replace('?', letter)))];
  for (const builtin of builtins.split(' ')) {
    for (const form of all) {
      for (const text of texts) {
        const call = `${builtin} ${form.replace('@', () => quoted(text))}`;
        yield { script: builtin === 'local' ? `f() { ${call}; }; f` : call, text, shown: true };
      }
    }
  }
}

/** What hosts may allow and not mean the canary: programs that the cases name, but none that runs its words. */
const allow =
  ': [ bind cat complete compopt declare dirs echo enable false fc getopts head help history kill let local ls mapfile ' +
  'popd printf pushd pwd read readarray readonly set shift test tr true type typeset ulimit unset wait base64';
const allowing: DecideRules = { allow: allow.split(' ').map((name) => `${name}:*`) };
const denying: DecideRules = { deny: ['./x:*', './x', './dir/ls'] };

/** Why the judgement of a command that ran the canary is wrong, in words. */
export function faults({ script, shown }: Case): string[] {
  const analysis = judge(script);
  const wrong = [
    analysis.readOnly === 'yes' && 'only reads',
    decide(analysis, allowing).verdict === 'allow' && 'passes the allow rules',
    shown && decide(analysis, denying).verdict === 'allow' && 'passes the deny rules',
  ];
  return wrong.filter((fault) => fault !== false).map((fault) => `${fault}: ${script}`);
}
