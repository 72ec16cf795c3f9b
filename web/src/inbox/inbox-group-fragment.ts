import { graphql } from 'react-relay';

/** A group of the inbox: its size and its first rows, the newest sessions first. */
export const inboxGroupFragment = graphql`
  fragment inboxGroupFragment_organization on Organization
  @throwOnFieldError
  @refetchable(queryName: "inboxGroupFragmentPaginationQuery")
  @argumentDefinitions(
    filter: { type: "SessionFilter" }
    count: { type: "Int", defaultValue: 25 }
    cursor: { type: "String" }
  ) {
    sessions(first: $count, after: $cursor, filter: $filter)
      @connection(key: "inboxGroupFragment_sessions", filters: ["filter"]) {
      totalCount
      edges {
        node {
          id
          sessionId
          ...inboxRow_session
        }
      }
    }
  }
`;
