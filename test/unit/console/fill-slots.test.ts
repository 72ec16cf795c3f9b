import { createElement, Fragment } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { plural } from '../../../web/src/texts/kit.ts';
import { fillSlots, type Slot } from '../../../web/src/ui/fill-slots.ts';

const filled = (text: string, slots: Readonly<Record<string, Slot>>) =>
  renderToStaticMarkup(createElement(Fragment, {}, fillSlots(text, slots)));

it('puts elements and values into the slots of a text', () => {
  const slots: Readonly<Record<string, Slot>> = { link: (text) => createElement('a', {}, text), name: 'Acme' };
  expect(filled('Ask <link>the owner of {name}</link> first: {name}.', slots)).toBe(
    'Ask <a>the owner of Acme</a> first: Acme.',
  );
});

it('does not search the text of users for slots', () => {
  expect(filled('Saved by {name}.', { name: '<link>{name}</link>' })).toBe('Saved by &lt;link&gt;{name}&lt;/link&gt;.');
});

it('selects the form of a number', () => {
  const forms = { one: '# file', other: '# files' };
  expect([0, 1, 2, 1_234].map((count) => plural(count, forms))).toEqual([
    '0 files',
    '1 file',
    '2 files',
    '1,234 files',
  ]);
  expect(plural(3_400_000, forms, '3.4M')).toBe('3.4M files');
});
