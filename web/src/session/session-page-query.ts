import { graphql } from 'react-relay';

/** All that the session page shows first, with the last entries of the log. */
export const sessionPageDocument = graphql`
  query sessionPageQuery($id: ID!, $withTranscript: Boolean!) @throwOnFieldError {
    agents {
      agentId
      steer
    }
    session(id: $id) {
      id
      sessionId
      agent
      organization {
        organizationId
        viewerPermissions
      }
      createdBy {
        id
      }
      title
      status
      statusDetail
      endReason
      isArchived
      isUnread
      pendingQuestion {
        questionId
        reason
        ...pendingQuestion_question
      }
      viewerCanManage {
        isAllowed
        missingPermission
      }
      attachments(first: 50) {
        nodes {
          attachmentId
          name
          sizeBytes
          url
        }
      }
      changesUpdatedAt
      workspaceDeletedAt
      changes {
        fileCount
      }
      repositories {
        directory
      }
      structuredOutput
      newestCheckpoint: checkpoints(first: 1) {
        nodes {
          id
        }
      }
      ...sessionButtons_session
      ...repositories_session
      ...forkedFrom_session
      ...details_session
      ...useEditSession_session
      ...outputPanel_session
      ...workspaceNote_session
      ...quotaNote_session
      transcript: events(last: 100) @include(if: $withTranscript) {
        ...transcriptPage_events
      }
      events(kinds: [PLAN], last: 1) {
        nodes {
          ... on PlanEvent {
            entries {
              content
              status
            }
          }
        }
      }
    }
  }
`;
