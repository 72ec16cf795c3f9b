import { graphql, useFragment } from 'react-relay';
import type {
  followUps_pullRequest$data,
  followUps_pullRequest$key,
} from '../__generated__/followUps_pullRequest.graphql.ts';
import type { followUpsDismissMutation } from '../__generated__/followUpsDismissMutation.graphql.ts';
import type { followUpsModeMutation } from '../__generated__/followUpsModeMutation.graphql.ts';
import type { followUpsSendMutation } from '../__generated__/followUpsSendMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { common } from '../texts/common.ts';
import { followUps as texts } from '../texts/session-pull-requests.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/field.tsx';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { FollowUpMessage } from './follow-up-message.tsx';
import { isOpen, kindNames, modeNames, stateName, stopTexts } from './follow-up-text.ts';

interface FollowUpsProps {
  readonly sessionId: string;
  readonly pullRequest: followUps_pullRequest$key;
  /** True if the viewer may write to the session. */
  readonly mayManage: boolean;
}

/** The follow-ups of a session's pull request: how they reach the session, why they stopped, and what came. */
export function FollowUps({ sessionId, pullRequest, mayManage }: FollowUpsProps) {
  const { url, state, followUpMode, followUpModeOverride, followUpStop, followUps, isReviewed } = useFragment(
    graphql`
      fragment followUps_pullRequest on PullRequest @throwOnFieldError {
        url
        state
        isReviewed
        followUpMode
        followUpModeOverride
        followUpStop
        followUps {
          followUpId
          kind
          state
          summary
          createdAt
        }
      }
    `,
    pullRequest,
  );
  const [setMode, isSetting] = useMutation<followUpsModeMutation>(graphql`
    mutation followUpsModeMutation($input: SetPullRequestFollowUpInput!) {
      setPullRequestFollowUp(input: $input) {
        session {
          ...pullRequests_session
        }
        userErrors {
          message
        }
      }
    }
  `);
  // The service has not read the pull request.
  if (followUpMode == null) return null;
  const isOver = state !== 'OPEN';
  if (isOver && followUps.length === 0) return null;
  const change = (mode: string | null) =>
    void setMode({
      input: { sessionId, url, mode: (mode || null) as followUpsModeMutation['variables']['input']['mode'] },
    });
  const open = followUps.filter(isOpen);
  const settled = followUps.filter((each) => !isOpen(each));
  const defaultName = isReviewed ? texts.byDefault : texts.asTheRepository;
  const stop = followUpStop == null ? undefined : stopTexts[followUpStop];
  return (
    <div className="follow-ups">
      {!isOver && (
        <Select
          label={texts.label}
          value={followUpModeOverride ?? ''}
          disabled={!mayManage || isSetting}
          onChange={({ target }) => change(target.value)}
        >
          <option value="">
            {followUpModeOverride == null
              ? texts.defaultMode({ name: defaultName, mode: modeNames[followUpMode] ?? '' })
              : defaultName}
          </option>
          {Object.entries(modeNames).map(([mode, name]) => (
            <option key={mode} value={mode}>
              {name}
            </option>
          ))}
        </Select>
      )}
      {stop && !isOver && (
        <div className="pair">
          <p className="warn" role="status">
            {stop}
          </p>
          {mayManage && (
            <Button size="small" isBusy={isSetting} onClick={() => change(followUpModeOverride ?? null)}>
              {common.continue}
            </Button>
          )}
        </div>
      )}
      <FollowUpList followUps={open} mode={followUpMode} mayManage={mayManage && !isOver} />
      {settled.length > 0 && (
        <details>
          <summary>{texts.earlier(settled.length)}</summary>
          <FollowUpList followUps={settled} mode={followUpMode} mayManage={false} />
        </details>
      )}
    </div>
  );
}

type FollowUp = followUps_pullRequest$data['followUps'][number];

function FollowUpList({
  followUps,
  mode,
  mayManage,
}: {
  readonly followUps: readonly FollowUp[];
  readonly mode: NonNullable<followUps_pullRequest$data['followUpMode']>;
  readonly mayManage: boolean;
}) {
  const [send, isSending] = useMutation<followUpsSendMutation>(graphql`
    mutation followUpsSendMutation($input: SendFollowUpInput!) {
      sendFollowUp(input: $input) {
        session {
          ...pullRequests_session
        }
        userErrors {
          message
        }
      }
    }
  `);
  const [dismiss, isDismissing] = useMutation<followUpsDismissMutation>(graphql`
    mutation followUpsDismissMutation($input: DismissFollowUpInput!) {
      dismissFollowUp(input: $input) {
        session {
          ...pullRequests_session
        }
        userErrors {
          message
        }
      }
    }
  `);
  if (followUps.length === 0) return null;
  return (
    <ul>
      {followUps.map(({ followUpId, kind, state, summary, createdAt }) => {
        const named = texts.named({ kind: kindNames[kind] ?? texts.kind, summary: visible(summary) });
        return (
          <li key={followUpId}>
            <p>
              {named} <span className="soft">({stateName({ kind, state }, mode)}, </span>
              <Time at={createdAt} />
              <span className="soft">)</span>
            </p>
            <FollowUpMessage followUpId={followUpId} named={named} />
            {mayManage && (
              <div className="buttons">
                <Button
                  size="small"
                  isBusy={isSending}
                  aria-label={texts.sendName({ named })}
                  onClick={() => void send({ input: { followUpId } })}
                >
                  {texts.send}
                </Button>
                <Button
                  size="small"
                  tone="quiet"
                  isBusy={isDismissing}
                  aria-label={texts.dismissName({ named })}
                  onClick={() => void dismiss({ input: { followUpId } })}
                >
                  {texts.dismiss}
                </Button>
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}
