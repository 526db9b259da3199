import { headerValues, type RequestHead } from '../request-head.ts';
import { groupsOf } from './address-groups.ts';

/** A header to which each proxy appends the address of its client. */
export type ForwardedHeader = 'x-forwarded-for' | 'forwarded';

/**
 * Reads the addresses that proxies appended, in the order of the header: the nearest proxy wrote the last one. Ports are
 * dropped. An entry that names no address is undefined; so is the only entry of a `Forwarded` header that is malformed.
 *
 * @see RFC 7239, sections 4 and 6
 */
export function forwardedHops(request: RequestHead, header: ForwardedHeader): readonly (string | undefined)[] {
  return READERS[header](headerValues(request, header).join(','));
}

const READERS: Readonly<Record<ForwardedHeader, (text: string) => readonly (string | undefined)[]>> = {
  'x-forwarded-for': (text) =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map((entry) => bareAddress(entry) ?? addressOfNode(entry)),
  forwarded: (text) =>
    nodes(text)?.map((node) => (node === undefined ? undefined : addressOfNode(node))) ?? [undefined],
};

/** Returns an address that is written without brackets and port. */
function bareAddress(entry: string): string | undefined {
  return ADDRESS.test(entry) && groupsOf(entry) !== undefined ? entry : undefined;
}

const ADDRESS = /^[0-9A-Fa-f:.]{2,45}$/;

/** Returns the address of a node: IPv4, or IPv6 in brackets, and perhaps a port. @see RFC 7239, section 6 */
function addressOfNode(node: string): string | undefined {
  const [, bracketed, dotted, port = '0'] = NODE.exec(node) ?? [];
  const address = bracketed ?? dotted;
  if (address === undefined || groupsOf(address) === undefined) return undefined;
  return port.startsWith('_') || Number(port) <= 65_535 ? address : undefined;
}

const NODE =
  /^(?:\[([0-9A-Fa-f.]*:[0-9A-Fa-f:.]{1,44})\]|(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}))(?::(\d{1,5}|_[A-Za-z0-9._-]{1,64}))?$/;

/**
 * Parses a `Forwarded` header into the unquoted values of `for`, one for each element: undefined when the element has
 * none or two. Returns undefined when any of the header is malformed: a client may have sent the first elements, and a
 * quotation mark of its own would change how the rest reads.
 */
function nodes(text: string): readonly (string | undefined)[] | undefined {
  const found: (string | undefined)[] = [];
  let parameters = 0;
  let values: string[] = [];
  for (let at = 0; ; ) {
    PAIR.lastIndex = at;
    const [all = '', name, token, quoted = '', end] = PAIR.exec(text) ?? [];
    if (end === undefined) return undefined;
    if (name !== undefined) parameters += 1;
    if (name?.toLowerCase() === 'for') values.push(token ?? quoted.replace(/\\(.)/g, '$1'));
    at += all.length;
    if (end === ';') continue;
    // A list may have empty elements: RFC 9110, section 5.6.1.
    if (parameters > 0) found.push(values.length === 1 ? values[0] : undefined);
    if (end === '') return found;
    [parameters, values] = [0, []];
  }
}

/** A parameter, or nothing, up to the end of the parameter, of the element or of the header. */
const PAIR =
  /[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)")[ \t]*)?([;,]|$)/y;
