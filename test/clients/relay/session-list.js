import { graphql } from 'relay-runtime';

// Compiled by relay-compiler in test/clients/relay.test.ts. The names follow Relay's rule: the name of the file, then
// the kind.

export const query = graphql`
  query sessionListQuery($id: ID!, $count: Int!) {
    organization(id: $id) {
      id
      ...sessionList_organization @arguments(count: $count)
    }
  }
`;

export const organization = graphql`
  fragment sessionList_organization on Organization
  @argumentDefinitions(count: { type: "Int", defaultValue: 50 }, cursor: { type: "String" })
  @refetchable(queryName: "sessionListForwardQuery") {
    sessions(first: $count, after: $cursor) @connection(key: "sessionList_sessions") {
      edges {
        node {
          id
          sessionId
          title
        }
      }
    }
  }
`;

export const creation = graphql`
  mutation sessionListCreateMutation($input: CreateSessionInput!, $connections: [ID!]!) {
    createSession(input: $input) {
      session @prependNode(connections: $connections, edgeTypeName: "SessionEdge") {
        id
        sessionId
        title
      }
      userErrors {
        message
      }
    }
  }
`;
