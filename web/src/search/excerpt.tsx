import { graphql, useFragment } from 'react-relay';
import type { excerpt_excerpt$key } from '../__generated__/excerpt_excerpt.graphql.ts';
import { MarkedText } from './marked-text.tsx';

/** The part of a text around the words that a search found, which are marked. */
export function Excerpt({ excerpt }: { readonly excerpt: excerpt_excerpt$key }) {
  const { text, highlights } = useFragment(
    graphql`
      fragment excerpt_excerpt on Excerpt {
        text
        highlights {
          start
          length
        }
      }
    `,
    excerpt,
  );
  return highlights.length === 0 ? text : <MarkedText text={text} ranges={highlights} />;
}
