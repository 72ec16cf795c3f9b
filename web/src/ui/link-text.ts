import { visible } from './visible.ts';

/** Letters that look like a dot. */
const dotLetters = String.raw`[\u119E\u1427\u318D\uA78F]`;

/** A letter, except those shared by all scripts, modifiers, and those that look like a dot. */
const letter = String.raw`(?!\p{Script=Common}|\p{Lm}|${dotLetters})\p{L}(?:(?!\p{Script=Common})\p{M})*|ー`;

/** Plain words only. This is an allowlist, since nobody can list everything that looks like a dot or a slash. */
const plainWords = new RegExp(String.raw`^(?:${letter}|\p{Emoji_Presentation}|[\s0-9,!?'’"“”()&#_‐–—-])*$`, 'u');

/** A host without a dot: the name of this computer, or an IPv4 address as one number. */
const dotlessHost = /localhost|0x[\da-f]|\d{8}|^\W*[\da-f]*\d[\da-f]*\W*$/;

const sentenceEnd = /[.!?,:;。\s]+$/;
const bidiControls = /[\u202A-\u202E\u2066-\u2069]/;

/**
 * The target to show beside a link's text: its host, or the address of a mail link. Null if the text is plain words, or
 * exactly the link's own host or URL. An agent or a stranger wrote the text, and may name one host and link to another.
 * `base`: the URL for relative links.
 */
export function destinationToShow(text: string, href: string, base: string): string | null {
  const link = URL.canParse(href, base) ? new URL(href, base) : null;
  if (link === null) return null;
  const isWeb = /^https?:$/.test(link.protocol);
  const destination = isWeb ? link.host : link.href;
  if (visible(text) !== text || bidiControls.test(text)) return destination;
  const shown = text.normalize('NFKC').trim().toLowerCase();
  const words = shown.replace(sentenceEnd, '');
  if (plainWords.test(words) && !dotlessHost.test(words)) return null;
  const own = link.href.toLowerCase();
  const isOwn = isWeb ? isAddressOf(link, text.trim()) : shown === own || `mailto:${shown}` === own;
  return isOwn ? null : destination;
}

/** Returns true if a text is a link's host or complete URL; `http`, `https` and `www.` make no difference. */
function isAddressOf(link: URL, text: string): boolean {
  const address = /^https?:\/\//i.test(text) ? text : `${link.protocol}//${text}`;
  // A user name before an "@" looks like the host. A host in another script may look like one in Latin letters.
  if (/\s/.test(text) || link.username !== '' || link.password !== '' || !URL.canParse(address)) return false;
  if (/(?:^|\.)xn--/.test(link.hostname) && !text.includes(link.hostname)) return false;
  const own = new URL(address);
  const isHostAlone = own.pathname === '/' && own.search === '' && own.hash === '' && own.username === '';
  return isSame(own.host, link.host) && (isHostAlone || afterHost(own) === afterHost(link));
}

const isSame = (one: string, other: string) => one.replace(/^www\./, '') === other.replace(/^www\./, '');
const afterHost = ({ username, pathname, search, hash }: URL) => `${username}${pathname}${search}${hash}`;
