import { graphql, readInlineData } from 'react-relay';
import type { entry_event$data, entry_event$key } from '../__generated__/entry_event.graphql.ts';

/** An entry of a session's log, as shown in the transcript. */
export type Entry = Exclude<entry_event$data, { readonly __typename: '%other' }>;

/** An entry of one type. */
export type EntryOf<T extends Entry['__typename']> = Extract<Entry, { readonly __typename: T }>;

/** Returns true for the last entry of a tool call. */
export const isOver = ({ toolStatus }: EntryOf<'ToolCallEvent'>) =>
  toolStatus === 'COMPLETED' || toolStatus === 'FAILED';

/** Reads an entry from a Relay reference: the transcript keeps its own list outside of Relay. */
export function readEntry(reference: entry_event$key): Entry {
  // The common fields are in each type, so that `__typename` distinguishes the types.
  return readInlineData(
    graphql`
      fragment entry_event on SessionEvent @inline {
        __typename
        ... on SessionMessage {
          id
          seq
          createdAt
          type
          body
          editedBody
          delivery
          draftId
          answer {
            questionId
          }
          author {
            id
            displayName
          }
        }
        ... on ToolCallEvent {
          id
          seq
          createdAt
          toolCallId
          title
          toolKind
          toolStatus
          isCancelled
          output
          outputBytes
          outputFile {
            attachmentId
            url
          }
          draftId
          locations {
            path
            line
          }
          diffs {
            path
            oldText
            newText
          }
        }
        ... on MessageChangedEvent {
          id
          seq
          createdAt
          change
          editedBody
          message {
            id
          }
        }
        ... on ThoughtEvent {
          id
          seq
          createdAt
          body
          draftId
        }
        ... on PlanEvent {
          id
          seq
          createdAt
          entries {
            content
            status
          }
        }
        ... on QuestionEvent {
          id
          seq
          createdAt
          questionId
          body
          reason
          options {
            optionId
            name
          }
        }
        ... on PermissionEvent {
          id
          seq
          createdAt
          title
          decision
          toolCallId
          question {
            questionId
          }
        }
        ... on StatusEvent {
          id
          seq
          createdAt
          status
          statusDetail
          endReason
          isArchived
        }
        ... on TurnEvent {
          id
          seq
          createdAt
          phase
          interruptedSeq
          stopReason
          stoppedBy {
            displayName
          }
        }
        ... on NoticeEvent {
          id
          seq
          createdAt
          body
          isWarning
          isStop
          failure
          agentOutput
        }
        ... on LimitEvent {
          id
          seq
          createdAt
          body
        }
        ... on ErrorEvent {
          id
          seq
          createdAt
          body
          failure
          agentOutput
        }
        ... on RepositoryEvent {
          id
          seq
          createdAt
          repository
          repositoryState
          percent
          body
        }
        ... on PushEvent {
          id
          seq
          createdAt
          repository
          branch
          newCommit
          pushOutcome
          refusal
          isForced
          subjects
        }
        ... on PullRequestEvent {
          id
          seq
          createdAt
          pullRequest {
            url
            state
          }
          isReviewedPullRequest
        }
        ... on AttachmentEvent {
          id
          seq
          createdAt
          name
        }
        ... on RewindEvent {
          id
          seq
          createdAt
          body
          toSeq
        }
        ... on UsageEvent {
          id
          seq
          createdAt
        }
        ... on StructuredOutputEvent {
          id
          seq
          createdAt
        }
      }
    `,
    reference,
  ) as Entry;
}
