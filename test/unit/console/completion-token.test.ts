import { describe, expect, it } from 'vitest';
import { tokenAt } from '../../../web/src/session/completion-token.ts';

const at = (text: string) => tokenAt(text, text.length);

describe('the word that is completed', () => {
  it.each([
    ['@', { sign: '@', search: '', start: 0 }],
    ['See @acme/si', { sign: '@', search: 'acme/si', start: 4 }],
    ['See (@src/a.ts', { sign: '@', search: 'src/a.ts', start: 5 }],
    ['@Übung', { sign: '@', search: 'Übung', start: 0 }],
    ['line\n!dep', { sign: '!', search: 'dep', start: 5 }],
    ['/', { sign: '!', search: '', start: 0 }],
    ['/rel', { sign: '!', search: 'rel', start: 0 }],
  ])('is found in %j', (text, token) => expect(at(text)).toEqual(token));

  it.each(['me@example.com', 'Great!', 'Bonjour !', 'a /rel', '/etc/hosts', '@a b', '', 'x!y'])(
    'is not in %j',
    (text) => expect(at(text)).toBeNull(),
  );

  it('ends at the cursor', () => {
    expect(tokenAt('@src and more', 4)).toEqual({ sign: '@', search: 'src', start: 0 });
  });
});
