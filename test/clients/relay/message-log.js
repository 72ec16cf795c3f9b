import { graphql } from 'relay-runtime';

export const query = graphql`
  query messageLogQuery($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
    session(id: $id) {
      id
      ...messageLog_session @arguments(first: $first, after: $after, last: $last, before: $before)
    }
  }
`;

export const session = graphql`
  fragment messageLog_session on Session
  @argumentDefinitions(
    first: { type: "Int" }
    after: { type: "String" }
    last: { type: "Int" }
    before: { type: "String" }
  )
  @refetchable(queryName: "messageLogPagesQuery") {
    messages(first: $first, after: $after, last: $last, before: $before) @connection(key: "messageLog_messages") {
      edges {
        cursor
        node {
          id
          seq
          body
        }
      }
      pageInfo {
        endCursor
        hasNextPage
        hasPreviousPage
        startCursor
      }
    }
  }
`;

export const following = graphql`
  subscription messageLogSubscription($sessionId: ID!, $after: String, $connections: [ID!]!) {
    sessionMessages(sessionId: $sessionId, after: $after) @appendEdge(connections: $connections) {
      cursor
      node {
        id
        seq
        body
      }
    }
  }
`;
