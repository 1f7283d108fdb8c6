/**
 * The part of a stream that is kept: its end, its beginning, or both ends. Limits are whole numbers of at least 1. A
 * limit that is left out does not hold, but at most 16 MiB are kept in any case.
 */
export type Truncate =
  | {
      /**
       * Which part is kept, up to the limit that is reached first: whole lines of
       * the end, or the beginning, which may end inside a line.
       *
       * @example await bash('npm test', { truncate: { keep: 'head', maxLines: 100 } });
       */
      keep: 'tail' | 'head';
      /**
       * Lines.
       *
       * @default no limit
       * @example await bash('npm test', { truncate: { keep: 'tail', maxLines: 200 } });
       */
      maxLines?: number | undefined;
      /**
       * Bytes of UTF-8.
       *
       * @default no limit but 16 MiB
       * @example await bash('npm test', { truncate: { keep: 'tail', maxBytes: 20_000 } });
       */
      maxBytes?: number | undefined;
      /**
       * UTF-16 units, as JavaScript counts characters.
       *
       * @default no limit
       * @example await bash('npm test', { truncate: { keep: 'head', maxChars: 30_000 } });
       */
      maxChars?: number | undefined;
    }
  | {
      /**
       * Both ends of a stream that is longer than `maxBytes`. `headBytes` and `tailBytes` together are at most
       * `maxBytes`.
       *
       * @example await bash('npm test', { truncate: TRUNCATE.ends });
       */
      keep: 'ends';
      /**
       * Bytes of UTF-8 up to which a stream stays whole.
       *
       * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
       * });
       */
      maxBytes: number;
      /**
       * Bytes that are kept of the beginning of a longer stream.
       *
       * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
       * });
       */
      headBytes: number;
      /**
       * Bytes that are kept of the end of a longer stream.
       *
       * @example await bash('make', { truncate: { keep: 'ends', maxBytes: 65_536, headBytes: 2_048, tailBytes: 8_192 }
       * });
       */
      tailBytes: number;
    };

/** How output is cleaned. */
export interface SanitizeOptions {
  /**
   * Whether escape sequences are removed.
   *
   * @default true
   * @example await bash('ls --color=always', { sanitize: { ansi: false } });
   */
  ansi?: boolean | undefined;
  /**
   * `'collapse'` shows a progress line as a terminal would in the end, `'keep'` delivers it as it comes.
   *
   * @default 'collapse'
   * @example await bash('curl -O https://example.com/file', { sanitize: { progress: 'keep' } });
   */
  progress?: 'collapse' | 'keep' | undefined;
}

/** Where whole output goes. */
export interface SpillOptions {
  /**
   * The directory of the files, made with mode 0700 if it is missing.
   *
   * @default a private directory below `TMPDIR`
   * @example await bash('npm test', { spill: { dir: '/var/tmp/agent-output' } });
   */
  dir?: string | undefined;
  /**
   * The most that a file may hold, in bytes, a whole number of at least 1. The file of a longer stream keeps the
   * beginning.
   *
   * @default 1_073_741_824 (1 GiB)
   * @example await bash('npm test', { spill: { maxBytes: 10 * 1024 ** 2 } });
   */
  maxBytes?: number | undefined;
  /**
   * Age in ms from which files of this package are removed when a new one is written, a whole number of at least 0.
   *
   * @default 604_800_000 (7 days)
   * @example await bash('npm test', { spill: { retentionMs: 3_600_000 } });
   */
  retentionMs?: number | undefined;
  /**
   * Gives the place in an artifact store of the host, when a stream overflows. `null` or a throw sets `spillError`, and
   * the command goes on.
   *
   * @default none: a file in `dir`
   * @example await bash('npm test', { spill: { allocate: (stream) => store.place(`${stream}.log`) } });
   */
  allocate?: ((stream: 'stdout' | 'stderr') => { id: string; path: string } | null) | undefined;
}
