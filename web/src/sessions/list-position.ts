import { useEffect, useLayoutEffect } from 'react';
import { useRelayEnvironment } from 'react-relay';
import {
  createOperationDescriptor,
  type Disposable,
  type GraphQLTaggedNode,
  getRequest,
  type Variables,
} from 'relay-runtime';
import { useLocation, useSearch } from 'wouter';

interface Position {
  /** The query parameters of the list: its filters. */
  readonly search: string;
  /** Scroll position of the window, in pixels. */
  top: number;
  /** Keeps the loaded rows. */
  kept: Disposable | null;
}

/** The list that the user left for a session; null: none. */
let position: Position | null = null;

/** The path of the list with the filters that it had when the user left it for a session. */
export const listAddress = (): string => (position?.search ? `/sessions?${position.search}` : '/sessions');

/** Returns true if the list with these query parameters was left for a session, and its rows are kept. */
export const isListKept = (search: string): boolean => position?.kept != null && position.search === filtersOf(search);

/** Forgets the list as soon as the user goes to another page than a session. */
export function useForgetList(): void {
  const [location] = useLocation();
  useEffect(() => {
    if (/^\/sessions(\/|$)/.test(location)) return;
    position?.kept?.dispose();
    position = null;
  }, [location]);
}

/**
 * Remembers the filters, the rows and the place of the list that the component shows, and returns to the place if the user
 * comes back from a session. `query`: the query of the first page, which keeps the others too.
 */
export function useListPosition(query: GraphQLTaggedNode, variables: Variables): void {
  const environment = useRelayEnvironment();
  const search = filtersOf(useSearch());
  useLayoutEffect(() => {
    const top = isListKept(search) ? (position?.top ?? 0) : 0;
    position?.kept?.dispose();
    const mine: Position = { search, top, kept: null };
    position = mine;
    if (top > 0) window.scrollTo(0, top);
    // Not after the list is gone: the window is then shorter.
    const scroll = () => {
      mine.top = window.scrollY;
    };
    window.addEventListener('scroll', scroll, { passive: true });
    return () => {
      window.removeEventListener('scroll', scroll);
      if (position === mine) mine.kept = environment.retain(createOperationDescriptor(getRequest(query), variables));
    };
  }, [environment, query, search, variables]);
}

/** Without the parameter that opens the dialog for a new session. */
function filtersOf(search: string): string {
  const params = new URLSearchParams(search);
  params.delete('new');
  return params.toString();
}
