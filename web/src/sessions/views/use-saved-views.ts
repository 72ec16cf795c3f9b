import { useMemo } from 'react';
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay';
import type { useSavedViews_organization$key } from '../../__generated__/useSavedViews_organization.graphql.ts';
import type { useSavedViewsQuery } from '../../__generated__/useSavedViewsQuery.graphql.ts';
import { hasPersonalState, useSigned } from '../../app/gate.tsx';
import { paramsOf } from '../filters.ts';

/** A filter of the list of sessions that the user saved. */
export interface SavedView {
  readonly name: string;
  /** A value of the input type SessionFilter. */
  readonly filter: Readonly<Record<string, unknown>>;
  /** The path of the list with the filter. */
  readonly address: string;
  /** True if the filter bar cannot show the filter, because it was saved by another client. */
  readonly isForeign: boolean;
}

/**
 * The views of the viewer in the current organization, oldest first; none for a service key. Without `isNeeded`, only those
 * that are loaded already.
 */
export function useSavedViews(isNeeded = true): readonly SavedView[] {
  const { organization: current, viewer, may } = useSigned();
  const { organization } = useLazyLoadQuery<useSavedViewsQuery>(
    graphql`
      query useSavedViewsQuery($id: ID!, $hasViews: Boolean!) {
        organization(id: $id) @include(if: $hasViews) {
          ...useSavedViews_organization
        }
      }
    `,
    {
      id: current?.organizationId ?? '',
      hasViews: current !== null && hasPersonalState(viewer) && may('VIEW_ORG_SESSIONS'),
    },
    { fetchPolicy: isNeeded ? 'store-or-network' : 'store-only' },
  );
  const data = useFragment<useSavedViews_organization$key>(
    graphql`
      fragment useSavedViews_organization on Organization {
        savedViews {
          name
          filter
        }
      }
    `,
    organization ?? null,
  );
  const views = data?.savedViews;
  return useMemo(
    () =>
      (views ?? []).map(({ name, filter: saved }) => {
        const filter = saved as SavedView['filter'];
        const params = paramsOf(filter);
        const search = params ?? new URLSearchParams({ view: name }).toString();
        return { name, filter, address: search ? `/sessions?${search}` : '/sessions', isForeign: params === null };
      }),
    [views],
  );
}
