import { estimateTokens } from 'agent-bash';

/**
 * @typedef {import('agent-bash/ai').BashToolOutput} BashToolOutput
 * @typedef {{ before: number, after: number }} Tokens
 */

/** Counts the tokens of all outputs, and those that the model reads, by class. See docs/tokens.md. */
export class Saved {
  /** @type {Map<string, Tokens>} */
  #classes = new Map([
    ['red', { before: 0, after: 0 }],
    ['green', { before: 0, after: 0 }],
    ['exact', { before: 0, after: 0 }],
  ]);
  /** Tokens of outputs that the model reads as they are. */
  #unchanged = 0;

  /** Adds the result of a command. Other outputs count for nothing. @param {BashToolOutput} output */
  add(output) {
    if (!('stdout' in output) || output.status === 'running') return;
    const { view, stdout, stderr } = output;
    const tokens = view && this.#classes.get(view.class);
    if (!tokens) this.#unchanged += estimateTokens(stdout) + estimateTokens(stderr);
    else {
      tokens.before += view.tokens.before;
      tokens.after += view.tokens.after;
    }
  }

  /** The tokens saved: in sum, and of each class. */
  toString() {
    const classes = [...this.#classes].filter(([, { before }]) => before > 0);
    const before = classes.reduce((sum, [, tokens]) => sum + tokens.before, this.#unchanged);
    const saved = classes.reduce((sum, [, tokens]) => sum + tokens.before - tokens.after, 0);
    const each = classes.map(([name, tokens]) => `${name} ${tokens.before - tokens.after} of ${tokens.before}`);
    return `${saved} of ${before} tokens of output: ${[...each, `unchanged ${this.#unchanged}`].join(', ')}`;
  }
}
