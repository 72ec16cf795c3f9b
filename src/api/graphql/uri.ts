import { GraphQLError, GraphQLScalarType } from 'graphql';
import { parseUrl } from '../../common/parse-url.ts';
import { refusingWith } from './dates.ts';

/**
 * Matches a URI or a relative reference of RFC 3986: its characters, and a scheme before the first ":" where that
 * precedes any "/".
 */
const syntax =
  /^(?:[A-Za-z][A-Za-z0-9+.-]*:|(?![^/?#]*:))(?:[A-Za-z0-9._~:/?[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*(?:#(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?$/;

const isUri = (text: string): boolean => text !== '' && syntax.test(text);

/** A URI of RFC 3986. Other characters, from agents or older rows, are percent-encoded. */
export const UriScalar = refusingWith(
  new GraphQLScalarType<string, unknown>({
    name: 'URI',
    specifiedByURL: 'https://scalars.graphql.org/chillicream/uri.html',
    serialize: (value) => {
      const text = String(value);
      if (isUri(text)) return text;
      const href = parseUrl(text)?.href;
      return href !== undefined && isUri(href) ? href : encodeURI(text.toWellFormed());
    },
    parseValue: (value) => {
      if (isUri(value as string)) return value as string;
      throw new GraphQLError('It is none.');
    },
  }),
  'URI must be an address after RFC 3986, with other characters percent-encoded, such as "https://example.com/hooks"',
);
