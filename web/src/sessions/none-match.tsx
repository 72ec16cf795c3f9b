import { Suspense } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { noneMatchQuery } from '../__generated__/noneMatchQuery.graphql.ts';
import { common } from '../texts/common.ts';
import { noneMatch as texts } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import type { Filter } from './filters.ts';

/** The longest query that the service searches transcripts for. */
const maxQueryLength = 300;

interface NoneMatchProps {
  readonly organizationId: string;
  readonly filter: Filter;
  readonly onClear: () => void;
  /** Shows the sessions whose transcripts match. */
  readonly onTranscripts: () => void;
}

/** Shown if no session matches the filters: a text that no title has may be in transcripts. */
export function NoneMatch({ organizationId, filter, onClear, onTranscripts }: NoneMatchProps) {
  const { search = '', ...rest } = filter;
  if (search === '' || search.length > maxQueryLength) return <Nothing text={texts.changeFilters} onClear={onClear} />;
  return (
    <Suspense fallback={<Loading label={texts.searchingTranscripts} rows={2} />}>
      <InTranscripts query={search} filter={rest} {...{ organizationId, onClear, onTranscripts }} />
    </Suspense>
  );
}

function Nothing({ text, onClear }: { readonly text: string; readonly onClear: () => void }) {
  return (
    <Empty title={texts.title} text={text}>
      <Button onClick={onClear}>{common.clearFilters}</Button>
    </Empty>
  );
}

function InTranscripts({
  organizationId,
  query,
  filter,
  onClear,
  onTranscripts,
}: NoneMatchProps & { readonly query: string }) {
  const { organization } = useLazyLoadQuery<noneMatchQuery>(
    graphql`
      query noneMatchQuery($id: ID!, $query: String!, $filter: SessionFilter) {
        organization(id: $id) {
          sessionSearch(query: $query, first: 1, filter: $filter) {
            totalCount
            totalCountIsExact
          }
        }
      }
    `,
    { id: organizationId, query, filter },
    { fetchPolicy: 'store-and-network' },
  );
  // Without an answer, nothing is known about transcripts.
  const found = organization?.sessionSearch;
  if (!found) return <Nothing text={texts.changeFilters} onClear={onClear} />;
  if (found.totalCount === 0) return <Nothing text={texts.nowhere} onClear={onClear} />;
  const { totalCount: count, totalCountIsExact: isExact } = found;
  return (
    <Empty title={texts.noTitle} text={isExact ? texts.inTranscripts(count) : texts.minInTranscripts(count)}>
      <div className="actions">
        <Button tone="primary" onClick={onTranscripts}>
          {texts.show}
        </Button>
        <Button onClick={onClear}>{common.clearFilters}</Button>
      </div>
    </Empty>
  );
}
