import { graphql, useFragment } from 'react-relay';
import type { excerpt_excerpt$key } from '../__generated__/excerpt_excerpt.graphql.ts';
import { MarkedText } from './marked-text.tsx';
import { plainExcerpt } from './plain-excerpt.ts';

/** The part of a text around the words that a search found, which are marked, without Markdown syntax. */
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
  const plain = plainExcerpt(text, highlights);
  return highlights.length === 0 ? plain.text : <MarkedText {...plain} />;
}
