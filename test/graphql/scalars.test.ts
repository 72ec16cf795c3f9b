import { type GraphQLScalarType, isScalarType, parseValue as parseText } from 'graphql';
import { describe, expect, it } from 'vitest';
import { DateScalar, DateTimeScalar } from '../../src/api/graphql/dates.ts';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { UriScalar } from '../../src/api/graphql/uri.ts';

it('names the specification of each scalar', () => {
  const own = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLScalarType =>
      isScalarType(type) && !['Boolean', 'Float', 'ID', 'Int', 'String'].includes(type.name),
  );
  expect(Object.fromEntries(own.map(({ name, specifiedByURL }) => [name, specifiedByURL]))).toEqual({
    Date: 'https://scalars.graphql.org/andimarek/local-date.html',
    DateTime: 'https://scalars.graphql.org/andimarek/date-time.html',
    JSON: expect.stringContaining('ECMA-404'),
    URI: 'https://scalars.graphql.org/chillicream/uri.html',
  });
});

// The examples in the specifications.
describe('URI', () => {
  it.each([
    'https://example.com',
    'urn:isbn:0451450523',
    '/path/to/resource',
    '//example.com/path',
    '../parent/resource',
    'https://example.com:8080/api?key=value',
    'mailto:user@example.com',
    '#section',
    '?query=value',
    'http://[::1]:4000/a%20b',
  ])('accepts and returns %s', (text) => {
    expect(UriScalar.parseValue(text)).toBe(text);
    expect(UriScalar.parseLiteral(parseText(JSON.stringify(text)))).toBe(text);
    expect(UriScalar.serialize(text)).toBe(text);
  });

  it.each([
    'ht!tp://example.com',
    'http://exam ple.com',
    '',
    '1a:b',
    'https://example.com/%zz',
    'a\nb',
    'x#y#z',
    12,
    null,
    {},
  ])('refuses %j and states the expected form', (value) => {
    expect(() => UriScalar.parseValue(value)).toThrow(/^URI must be an address after RFC 3986, .*, but was .*\.$/s);
  });

  it('shows only the beginning of a long value', () => {
    expect(() => UriScalar.parseValue(` ${'x'.repeat(10_000)}`)).toThrow(/^.{1,250}$/);
  });

  it.each([
    ['https://example.com/ä b', 'https://example.com/%C3%A4%20b'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['not a url', 'not%20a%20url'],
    ['\ud800', '%EF%BF%BD'],
  ])('returns %j, which an agent may report, as a URI of RFC 3986', (text, uri) => {
    expect(UriScalar.serialize(text)).toBe(uri);
    expect(UriScalar.parseValue(uri)).toBe(uri);
  });
});

it('returns and accepts times and dates in the form of their specifications', () => {
  expect(DateTimeScalar.serialize(new Date('2011-08-30T13:22:53.108Z'))).toBe('2011-08-30T13:22:53.108Z');
  for (const text of [
    '2011-08-30T13:22:53.108Z',
    '2011-08-30T13:22:53.108+00:00',
    '2011-08-30t13:22:53.108z',
    '2011-08-30T10:22:53.108-03:00',
    '2011-08-30T16:52:53.108+03:30',
  ]) {
    expect(DateTimeScalar.parseValue(text)).toEqual(new Date('2011-08-30T13:22:53.108Z'));
  }
  for (const text of [
    '2011-08-30T13:22:53.108-03',
    '2011-08-30T13:22:53.108',
    '2011-08-30',
    '2010-02-30T21:22:53.108Z',
  ]) {
    expect(() => DateTimeScalar.parseValue(text)).toThrow(/^DateTime must be RFC 3339 text/);
  }
  expect(DateScalar.serialize(DateScalar.parseValue('2024-02-29'))).toBe('2024-02-29');
  for (const text of ['2023-02-29', '2011-08-30T00:00:00Z', '20110830']) {
    expect(() => DateScalar.parseValue(text)).toThrow(/^Date must be a day/);
  }
});
