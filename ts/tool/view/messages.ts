/** The parts of a message with results of tools, in the shapes of ai 6 and ai 7. */
interface Part {
  type?: unknown;
  content?: unknown;
  toolCallId?: unknown;
  output?: { value?: unknown } | null | undefined;
}

/**
 * Returns the texts that a model reads of calls of tools, by the id of the call, in the order of the messages. Empty if
 * the messages cannot be read.
 */
export function textsIn(messages: unknown): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  try {
    for (const { type, toolCallId, output } of partsOf(messages).flatMap(({ content }) => partsOf(content))) {
      const text = output?.value;
      if (type !== 'tool-result' || typeof toolCallId !== 'string' || typeof text !== 'string') continue;
      texts.set(toolCallId, [...(texts.get(toolCallId) ?? []), text]);
    }
  } catch {
    // A getter of a message has thrown.
    return new Map();
  }
  return texts;
}

/** Returns the ids of the last calls that have results in the messages; `null` if there are none. */
export function latestCalls(messages: unknown): string[] | null {
  try {
    const results = partsOf(messages).map(({ content }) =>
      partsOf(content).filter(({ type }) => type === 'tool-result'),
    );
    const latest = results.findLast((parts) => parts.length > 0);
    return latest?.map(({ toolCallId }) => String(toolCallId)) ?? null;
  } catch {
    // A getter of a message has thrown.
    return null;
  }
}

function partsOf(value: unknown): Part[] {
  return Array.isArray(value) ? value.filter((part) => typeof part === 'object' && part !== null) : [];
}
