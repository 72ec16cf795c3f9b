import { isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import { parseUrl } from '../common/parse-url.ts';

/** An address whose scheme is one of `schemes`. */
export const url = (schemes: readonly string[]) =>
  z.string().refine((value) => schemes.includes(parseUrl(value)?.protocol.slice(0, -1) ?? ''), {
    error: `must be an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
  });

/** Addresses whose schemes are some of `schemes`, separated by commas. A comma inside an address is written as %2C. */
export const urls = (schemes: readonly string[]) =>
  z
    .string()
    .transform((value) => value.split(',').map((each) => each.trim()))
    .refine((values) => values.every((value) => url(schemes).safeParse(value).success), {
      error: `must be addresses, separated by commas, that begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    });

/** A path or a name: any text but an empty one. */
export const text = () => z.string().min(1);

/** Bounds of a number. `minMeaning` explains the minimum in the error, for example "no limit". */
interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly minMeaning?: string;
}

/** A number within bounds, both inclusive. */
export const number = ({ min, max, minMeaning }: Bounds) =>
  z.coerce
    .number({ error: 'must be a number' })
    .min(min, minMeaning === undefined ? `must be at least ${min}` : `must be ${min} (${minMeaning}) or more`)
    .max(max, `must be at most ${max}`);

/** An integer within bounds, both inclusive. */
export const integer = (bounds: Bounds) => number(bounds).int('must be an integer');

/** A limit on something in each minute; 0 switches it off. */
export const perMinute = (defaultLimit: number) =>
  integer({ min: 0, max: 100_000_000, minMeaning: 'no limit' }).default(defaultLimit);

/** A switch: true, 1 and on, or false, 0 and off. */
export const flag = (isOnByDefault: boolean) =>
  z
    .enum(['true', 'false', '1', '0', 'on', 'off'], { error: 'must be true or false' })
    .transform((value) => ['true', '1', 'on'].includes(value))
    .default(isOnByDefault);

/** {@link flag} without a default: null if it is not set. */
export const optionalFlag = () => flag(false).unwrap().optional();

/** Marks the form of a variable that holds a secret: `NAME_FILE` may name a file with it, and reports never show it. */
export const secret = <Form extends z.ZodType>(form: Form): Form => form.meta({ isSecret: true });

/** Tells if a form is that of a {@link secret}. */
export const isSecret = (form: z.ZodType): boolean => form.meta()?.isSecret === true;

/** An address to listen on. */
export interface ListenAddress {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** A host and a port: `127.0.0.1:9464`, `[::1]:9464`. */
export const listenAddress = () =>
  z.string().transform((value, context): ListenAddress => {
    const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(value) ?? [];
    const host = bracketed ?? plain;
    if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
    context.addIssue({ code: 'custom', message: 'must be a host and a port, such as 127.0.0.1:9464 or [::1]:9464' });
    return z.NEVER;
  });

/** A key of 32 to 1,000 characters. */
export const secretKey = () =>
  z.string().min(32, 'must have at least 32 characters').max(1_000, 'must have at most 1,000 characters');

/** The largest number of proxies in a row. */
const maxHops = 32;
/** Names of networks that `TRUST_PROXY` accepts. */
const networkNames = ['loopback', 'linklocal', 'uniquelocal'];

function isNetwork(value: string): boolean {
  const [address = '', bits, ...more] = value.split('/');
  if (isIP(address) === 0 || address.includes('%') || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (isIPv6(address) ? 128 : 32));
}

/** A number of proxies, or a comma-separated list of networks. */
export const trustedProxies = () =>
  z
    .string()
    .transform((value) => (/^\d+$/.test(value.trim()) ? Number(value) : value.split(',').map((each) => each.trim())))
    .refine(
      (value) =>
        typeof value === 'number'
          ? value <= maxHops
          : value.every((network) => networkNames.includes(network) || isNetwork(network)),
      {
        error: `must be a number of proxies, at most ${maxHops}, or a comma-separated list of addresses, ranges (10.0.0.0/8) and the words ${networkNames.join(', ')}`,
      },
    );

/** Returns an origin as browsers write it; null if the value is not an origin. */
function originOf(value: string): string | null {
  const parsed = parseUrl(value);
  const isOriginOnly =
    parsed !== null && `${parsed.pathname}${parsed.search}${parsed.hash}${parsed.username}${parsed.password}` === '/';
  return isOriginOnly && /^https?:$/.test(parsed.protocol) && !/[?#@]/.test(value) ? parsed.origin : null;
}

/** A comma-separated list of origins, or `*` alone. */
export const origins = () =>
  z
    .string()
    .transform((value) => value.split(',').map((each) => each.trim()))
    .refine((value) => value.join() === '*' || value.every((each) => originOf(each) !== null), {
      error:
        'must be a comma-separated list of origins (https://console.example.com, without a path), or "*" by itself for all',
    })
    .transform((value) => [...new Set(value.map((each) => originOf(each) ?? each))]);

/** Headers as OpenTelemetry writes them: `name=value`, separated by commas, with values in percent-encoding. */
export const headerList = () =>
  z.string().transform((value, context): Readonly<Record<string, string>> => {
    const pairs = value.split(',').map((pair) => /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(pair));
    const headers = pairs.flatMap((pair) => (pair === null ? [] : [[pair[1] as string, decoded(pair[2] as string)]]));
    if (headers.length === pairs.length) return Object.fromEntries(headers);
    // The message must not quote the value, which may be a key.
    context.addIssue({ code: 'custom', message: 'must be a list such as name=value,name=value' });
    return z.NEVER;
  });

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
