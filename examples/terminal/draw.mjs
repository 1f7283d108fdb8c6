/**
 * Returns the text that draws a terminal in a frame at the top left of the host's screen, with the cursor but without
 * colours. A real host would also draw the colours of the cells: see `IBufferCell`.
 *
 * @param {import('@xterm/headless').Terminal} terminal
 * @param {string} title
 */
export function draw({ cols, rows, buffer: { active } }, title) {
  const lines = Array.from({ length: rows }, (_, y) => {
    const text = active.getLine(active.baseY + y)?.translateToString(true) ?? '';
    // A wide character takes two cells, so the right border is placed by column.
    return `│${text}\x1b[K\x1b[${cols + 2}G│`;
  });
  const name = ` ${[...title.replace(/\p{Cc}/gu, ' ')].slice(0, Math.max(0, cols - 2)).join('')} `.slice(0, cols);
  const frame = [`┌${name.padEnd(cols, '─')}┐`, ...lines, `└${'─'.repeat(cols)}┘`];
  const cursor = `\x1b[${active.cursorY + 2};${Math.min(active.cursorX, cols - 1) + 2}H`;
  return `\x1b[?25l\x1b[H${frame.join('\r\n')}${cursor}\x1b[?25h`;
}
