import { describe, expect, it } from 'vitest';
import { destinationToShow } from '../../../web/src/ui/link-text.ts';

const base = 'http://localhost:4000/sessions/1';
const shownFor = (text: string, href: string) => destinationToShow(text, href, base);

describe('shows the destination of a link', () => {
  const evil = 'https://evil.example/login';
  it.each([
    ['another address', 'https://bank.example', evil],
    ['another address with a path', 'https://bank.example/login', evil],
    ['another host', 'bank.example', evil],
    ['another host in a sentence', 'Sign in at bank.example, please', evil],
    ['another host in brackets', '(www.bank.example)', evil],
    ['a host in capitals', 'HTTPS://BANK.EXAMPLE', evil],
    ['a name before an @', 'https://bank.example@evil.example/', evil],
    ['a mail address', 'help@bank.example', evil],
    ['the true host and another', 'evil.example bank.example', evil],
    ['an address behind another word', 'x:https://bank.example', evil],
    ['an address without a top level', 'https://bank', evil],
    ['an IP address', '192.0.2.1', evil],
    ['a soft hyphen', 'https://ba\u00adnk.example', evil],
    ['a character of no width', 'https://bank.exa\u200bmple', evil],
    ['a joiner of no width', 'bank\u200d.example', evil],
    ['text that is turned around', 'https://\u202emoc.elpmaxe', 'https://moc.elpmaxe/'],
    ['an isolate', '\u2067elpmaxe.live\u2069', evil],
    ['wide letters and dots', 'ｈｔｔｐｓ：／／ｂａｎｋ．ｅｘａｍｐｌｅ', evil],
    ['an ideographic dot', 'bank。example', evil],
    ['slashes that are none', 'https:∕∕bank.example∕login', evil],
    ['backslashes', 'https:\\\\bank.example', evil],
    ['a dot in the middle', 'bank·example', evil],
  ])('if the text contains %s', (_name, text, href) => {
    expect(shownFor(text, href)).toBe(new URL(href).host);
  });

  it.each([
    ...['http:bank.example', 'https:/bank.example/', 'https:bank.example/login', '//bank.example/x'],
    ...['ftp:bank.example', 'see:bank.example', 'localhost', 'localhost/sessions', 'Localhost'],
    ...['http://[::1]:4000/', '[::1]:4000', '127.1', '2130706433', '(2130706433)', '0x7f000001', 'at 0x7f000001'],
    ...['bank.example’s', 'bank.example!x', 'bank.example%2F', 'bank.example&amp;', 'bank.example+x'],
    ...['~x', '$x', '^x', 'bank.example~x', 'bank.example$x', 'bank.example^x'],
    ...['bank.example—login', 'bank.example\u2011x', 'bank .com', 'bank\u2009.\u2009com', 'bank. com'],
    ...['bank..example', 'bank.c0m', 'bank.com1', 'Sign in at bank.example.'],
  ])('if the text is %j', (text) => {
    expect(shownFor(text, evil)).toBe('evil.example');
  });

  it.each([
    ...['\u06d4', '\u0701', '\ua60e', '\u2e31', '\ua4f8', '\u{1d16d}', '\u0660', '\u201a', '\u318d', '\u1427'],
    ...['\u2024', '\uff0e', '\uff61', '\u0387', '\u02d9', '\u25aa', '\u2022', '\u3002'],
  ])('if the dot of a host is %j', (dot) => {
    expect(shownFor(`bank${dot}example`, evil)).toBe('evil.example');
  });

  it.each(['╱╱', '⟋⟋', '〳〳', 'ノノ', '／／', '⧸⧸', '∕∕', '⫽'])('if the slashes are %j', (slashes) => {
    expect(shownFor(`https:${slashes}bank.example`, evil)).toBe('evil.example');
    expect(shownFor(`https:${slashes}bank`, evil)).toBe('evil.example');
  });

  it('if the text has the link’s host and another path, or a name before it', () => {
    expect(shownFor('evil.example/bank.example', evil)).toBe('evil.example');
    expect(shownFor('https://bank.example@evil.example/', 'https://bank.example@evil.example/')).toBe('evil.example');
  });

  it('if the text names a host that is a prefix or suffix of the link’s', () => {
    expect(shownFor('bank.example', 'https://bank.example.evil.example/')).toBe('bank.example.evil.example');
    expect(shownFor('bank.example', 'https://notbank.example/')).toBe('notbank.example');
    expect(shownFor('https://bank.example', 'https://bank.example@evil.example/')).toBe('evil.example');
  });

  it('if the text names another port, also of this service', () => {
    expect(shownFor('http://localhost:4000/', 'http://localhost:9999/')).toBe('localhost:9999');
    expect(shownFor('localhost:4000', 'http://localhost:9999/')).toBe('localhost:9999');
    expect(shownFor('https://bank.example', '/sign-in#link=abc')).toBe('localhost:4000');
  });

  it('in ASCII if the link’s name is in another script', () => {
    expect(shownFor('https://bаnk.example', 'https://bаnk.example/')).toBe('xn--bnk-6cd.example');
    expect(shownFor('bücher.example', 'https://bücher.example/')).toBe('xn--bcher-kva.example');
  });

  it('if a text with an email address leads to another one', () => {
    expect(shownFor('help@bank.example', 'mailto:evil@evil.example')).toBe('mailto:evil@evil.example');
    const copied = 'mailto:help@bank.example?bcc=evil@evil.example';
    expect(shownFor('help@bank.example', copied)).toBe(copied);
  });
});

describe('shows no destination', () => {
  it.each([
    ['words', 'the documentation', 'https://docs.example/'],
    ['a sentence', 'See the docs.', 'https://docs.example/'],
    ['a question with a year', 'What’s new in 2026?', 'https://docs.example/'],
    ['words before a colon', 'Read "more" (in English):', 'https://docs.example/'],
    ['a number among words', 'Issue #12', 'https://docs.example/'],
    ['words to a mail', 'Write to us', 'mailto:help@docs.example'],
    ['words in Japanese', 'サーバーの設定', 'https://docs.example/'],
    ['words in Hindi', 'हिन्दी में', 'https://docs.example/'],
    ['an emoji', '🚀 Deploy', 'https://docs.example/'],
    ['the address', 'https://docs.example/a/b.html?c=d.example', 'https://docs.example/a/b.html?c=d.example'],
    ['the host', 'docs.example', 'https://docs.example/a'],
    ['the host without www', 'docs.example', 'https://www.docs.example/'],
    ['the address by http', 'http://docs.example', 'https://docs.example/'],
    ['the host and the port', 'localhost:4000/sessions', '/sessions'],
    ['the name in ASCII', 'https://xn--bcher-kva.example/', 'https://bücher.example/'],
    ['the mail address', 'help@docs.example', 'mailto:help@docs.example'],
    ['words in another script', 'Документация', 'https://docs.example/'],
  ])('for a text with %s', (_name, text, href) => {
    expect(shownFor(text, href)).toBeNull();
  });

  it('for an invalid address', () => {
    expect(shownFor('https://bank.example', 'https://')).toBeNull();
  });
});
