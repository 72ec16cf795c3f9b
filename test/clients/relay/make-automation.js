import { graphql } from 'relay-runtime';

// Inputs with exactly one member, an interface without ids, and a union.

export const creation = graphql`
  mutation makeAutomationMutation($input: CreateAutomationInput!, $prompt: String!) {
    createAutomation(input: $input) {
      automation {
        id
        triggers {
          eventType
          ... on ScheduleTrigger {
            rule
          }
        }
        actions {
          __typename
          ... on StartSessionAction {
            prompt
          }
        }
        createdBy {
          displayName
        }
      }
      userErrors {
        message
      }
    }
    second: createAutomation(
      input: { name: "In the document", triggers: [], actions: [{ startSession: { prompt: $prompt } }] }
    ) {
      automation {
        id
        name
      }
    }
  }
`;
