import { h, hidden } from '../base/dom.ts';

/** A port that a run listens on. */
export interface Port {
  port: number;
  address: string;
}

const ALL = ['', '*', '0.0.0.0', '::'];

/** Returns whether other machines can reach a port. */
export function isOpen({ address }: Port): boolean {
  return address !== '::1' && !address.startsWith('127.');
}

/** Returns the host of a URL that reaches an address from this machine; `null` for a text that is not an address. */
function hostOf(address: string): string | null {
  if (ALL.includes(address)) return '127.0.0.1';
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) return address;
  return /^[\da-f:]{2,39}$/i.test(address) ? `[${address}]` : null;
}

/** Makes a link to a port, or only text if the address or the port is not valid. */
export function portLink(port: Port): HTMLElement {
  const host = hostOf(port.address);
  const number = port.port;
  if (host === null || !Number.isInteger(number) || number < 1 || number > 65_535) {
    return h('span', { class: 'port' }, `${port.address}:${number}`);
  }
  const open = isOpen(port);
  return h(
    'a',
    // The opened site gets no reference to this page.
    {
      class: open ? 'port port-open' : 'port',
      href: `http://${host}:${number}/`,
      target: '_blank',
      rel: 'noopener noreferrer',
    },
    `:${number}`,
    open && hidden(' open to the network'),
  );
}
