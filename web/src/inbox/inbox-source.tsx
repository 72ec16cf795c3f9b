import { useCallback, useEffect } from 'react';
import { useFragment, useLazyLoadQuery } from 'react-relay';
import { useLocation } from 'wouter';
import type { inboxGroupFragment_organization$key } from '../__generated__/inboxGroupFragment_organization.graphql.ts';
import type { inboxQuery } from '../__generated__/inboxQuery.graphql.ts';
import { setAttention } from './attention.ts';
import { inboxGroupFragment } from './inbox-group-fragment.ts';
import { inboxDocument } from './inbox-query.ts';
import type { InboxOf } from './inbox-scope.ts';
import { notify } from './notifications.ts';
import { useLiveInbox } from './use-live-inbox.ts';

/**
 * Reads the inbox on every page and keeps it up to date, also where the list is not shown: for the number in the window's title, the
 * icon of the window and notifications.
 */
export function InboxSource({ inbox }: { readonly inbox: InboxOf }) {
  const [, go] = useLocation();
  const { changesCursor, needsYou } = useLazyLoadQuery<inboxQuery>(inboxDocument, inbox.variables, {
    fetchPolicy: 'store-or-network',
  });
  useLiveInbox(
    inbox,
    changesCursor,
    useCallback((session) => notify(session, go), [go]),
  );
  const key: inboxGroupFragment_organization$key | null | undefined = needsYou;
  const count = useFragment(inboxGroupFragment, key)?.sessions.totalCount ?? 0;
  useEffect(() => setAttention(count), [count]);
  useEffect(() => () => setAttention(0), []);
  return null;
}
