/** Options of `startPage`. An option that does not exist is `ERR_BASH_INVALID_ARG`. */
export interface PageOptions {
  /**
   * Whether commands can be stopped, answered, approved, denied and undone from the page, and drafts committed and
   * discarded. Otherwise the page is read-only.
   *
   * @default false
   * @example const page = await startPage({ control: true });
   */
  control?: boolean | undefined;
  /**
   * The port on 127.0.0.1, a whole number from 0 to 65535. 0 takes a free port.
   *
   * @default 0
   * @example const page = await startPage({ port: 7070 });
   */
  port?: number | undefined;
}

/** A page that a server in this process serves. */
export interface Page {
  /**
   * A link to the page, `http://127.0.0.1:PORT/#CODE`. The code signs one tab in. Once it is used, this property has a
   * link with a new code.
   */
  readonly url: string;
  /** The port that the server listens on, never 0. */
  readonly port: number;
  /** Ends the server and disconnects all tabs. Commands keep running. A second call does nothing. */
  close(): Promise<void>;
}

/** The files of the browser app. */
export interface Assets {
  script: string;
  style: string;
}
