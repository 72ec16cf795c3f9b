import { useEffect, useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { useLocation } from 'wouter';
import type { paletteMatchesQuery } from '../__generated__/paletteMatchesQuery.graphql.ts';
import { Excerpt } from '../search/excerpt.tsx';
import { matchAddress } from '../search/match-address.ts';
import { plainTitle } from '../session/plain-title.ts';
import { palette as texts } from '../texts/layout.ts';
import { ChoiceGroup, ChoiceItem } from './palette-choice.tsx';

/** The delay between typing and the search, in ms. */
const typingMs = 250;

interface PaletteMatchesProps {
  readonly organizationId: string;
  readonly query: string;
  /** Wraps an action so that it also closes the palette. */
  readonly onChoose: (act: () => void) => () => void;
}

/** Choices of the palette: entries of transcripts that match, one for each session. */
export function PaletteMatches(props: PaletteMatchesProps) {
  const [query, setQuery] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setQuery(props.query), typingMs);
    return () => clearTimeout(timer);
  }, [props.query]);
  return query === props.query && <Found {...props} />;
}

function Found({ organizationId, query, onChoose }: PaletteMatchesProps) {
  const [, go] = useLocation();
  const { organization } = useLazyLoadQuery<paletteMatchesQuery>(
    graphql`
      query paletteMatchesQuery($id: ID!, $query: String!) @throwOnFieldError {
        organization(id: $id) {
          sessionSearch(query: $query, first: 6) {
            nodes {
              session {
                id
                sessionId
                title
              }
              matches {
                cursor
                excerpt {
                  ...excerpt_excerpt
                }
              }
            }
          }
        }
      }
    `,
    { id: organizationId, query },
  );
  const found = (organization?.sessionSearch.nodes ?? []).flatMap(({ session, matches: [match] }) =>
    match ? [{ session, match, address: matchAddress(session.sessionId, match.cursor, query) }] : [],
  );
  return (
    <ChoiceGroup label={texts.inTranscripts}>
      {found.map(({ session, match, address }) => (
        <ChoiceItem key={session.id} icon="search" address={address} onChoose={onChoose(() => go(address))}>
          <span className="match">
            {plainTitle(session.title)}
            <small>
              <Excerpt excerpt={match.excerpt} />
            </small>
          </span>
        </ChoiceItem>
      ))}
    </ChoiceGroup>
  );
}
