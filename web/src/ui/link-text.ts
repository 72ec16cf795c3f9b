import { visible } from './visible.ts';

/** Characters that look like a dot or a slash beside those that NFKC makes one. */
const dots = /[。·•‧∙⋅]/g;
const slashes = /[\\⁄∕⧸]/g;

/** A character that is not seen or that turns text around; all that {@link visible} shows, and every other format character. */
const hidden = /\p{Cf}/gu;

const scheme = /^[a-z][a-z0-9+.-]*:\/*$/;
const bareHost = /^(?:[^.]+\.)+(?:\p{L}[\p{L}\p{M}]+|xn--[a-z0-9-]+)$/u;
const ipv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Where a link really leads, to be shown beside its text: its host, or the address of a mail. Null where that is not needed,
 * since the text names no host, or only the link's own. Text that an agent or a stranger wrote may name one host and lead
 * to another; so may text with characters that are not seen, that turn it around, or that look like others. `base`: the
 * address that relative links start from.
 */
export function destinationToShow(text: string, href: string, base: string): string | null {
  const link = URL.canParse(href, base) ? new URL(href, base) : null;
  if (link === null) return null;
  const isWeb = /^https?:$/.test(link.protocol);
  const destination = isWeb ? link.host : decoded(link.href);
  const shown = text.normalize('NFKC').replace(hidden, '').replace(dots, '.').replace(slashes, '/').toLowerCase();
  if (visible(text) !== text || /[\u202A-\u202E\u2066-\u2069]/.test(text)) return destination;
  const hosts = hostsIn(shown);
  if (hosts.length === 0) return null;
  if (!isWeb) return shown.trim() === decoded(link.pathname) || shown.trim() === destination ? null : destination;
  const isPlain = hosts.every((host) => isHostOf(link, host));
  // A name in another script may look like one in Latin letters: then its form in ASCII tells them apart.
  const isAscii = !/(?:^|\.)xn--/.test(link.hostname) || shown.includes(link.hostname);
  return isPlain && isAscii ? null : destination;
}

/** Everything in a text that is, or reads like, a host: with its port, if it has one. Paths behind a host do not count. */
function hostsIn(text: string): string[] {
  return text
    .split(/[\s,;|()<>"'`[\]{}]+/)
    .filter((word) => word !== '')
    .flatMap((word) => {
      const parts = word.split(/(?<=[a-z][a-z0-9+.-]*:\/\/+)/);
      return parts.flatMap((part, at) => {
        if (scheme.test(part)) return [];
        const isAfterScheme = at > 0;
        const [authority = ''] = part.split(/[/?#]/);
        // A name before an "@" is no host, but reads like one.
        const names = authority.split('@').map((name) => name.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''));
        return names.filter((name, index) => {
          const [host = ''] = name.split(':');
          const isLast = index === names.length - 1;
          return (
            host !== '' && ((isAfterScheme && isLast) || isHost(host) || (isLast && /^\p{L}[^.]*:\d+$/u.test(name)))
          );
        });
      });
    });
}

const isHost = (name: string) => bareHost.test(name) || ipv4.test(name);

function isHostOf(link: URL, host: string): boolean {
  const address = `${link.protocol}//${host}`;
  if (!URL.canParse(address)) return false;
  return withoutWww(new URL(address).host) === withoutWww(link.host);
}

const withoutWww = (host: string) => host.replace(/^www\./, '');

function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}
