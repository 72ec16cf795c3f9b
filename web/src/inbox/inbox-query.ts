import { graphql } from 'react-relay';

/** The first rows of each group of the inbox. */
export const inboxDocument = graphql`
  query inboxQuery(
    $id: ID!
    $needsYou: SessionFilter!
    $pinned: SessionFilter!
    $working: SessionFilter!
    $done: SessionFilter!
    $hasMarks: Boolean!
    $count: Int = 25
  ) @throwOnFieldError {
    changesCursor
    needsYou: organization(id: $id) {
      ...inboxGroupFragment_organization @arguments(filter: $needsYou, count: $count)
    }
    pinned: organization(id: $id) @include(if: $hasMarks) {
      ...inboxGroupFragment_organization @arguments(filter: $pinned, count: $count)
    }
    working: organization(id: $id) {
      ...inboxGroupFragment_organization @arguments(filter: $working, count: $count)
    }
    done: organization(id: $id) {
      ...inboxGroupFragment_organization @arguments(filter: $done, count: $count)
    }
  }
`;
