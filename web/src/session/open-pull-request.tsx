import { useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { openPullRequestAskMutation } from '../__generated__/openPullRequestAskMutation.graphql.ts';
import type { openPullRequestMutation } from '../__generated__/openPullRequestMutation.graphql.ts';
import type { openPullRequestPushesQuery } from '../__generated__/openPullRequestPushesQuery.graphql.ts';
import { FormDialog, type FormFields, type FormProblem } from '../manage/kit/kit.ts';
import { newKey } from '../relay/new-key.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { common } from '../texts/common.ts';
import { openPullRequest as texts } from '../texts/session-pull-requests.ts';
import { Button } from '../ui/button.tsx';
import { errorOf, Select, TextArea, TextField } from '../ui/field.tsx';
import { RichText } from '../ui/rich-text.tsx';
import { useToasts } from '../ui/toasts.tsx';
import { visible } from '../ui/visible.ts';
import { repositoryName } from './repository-text.ts';

interface OpenPullRequestProps {
  readonly sessionId: string;
  /** The title of the session. */
  readonly title: string;
  /** The repositories to which the session may push. */
  readonly repositories: readonly { readonly host: string; readonly path: string; readonly branch: string }[];
}

const pushesQuery = graphql`
  query openPullRequestPushesQuery($sessionId: ID!) {
    session(id: $sessionId) {
      events(kinds: [PUSH], last: 100) {
        nodes {
          ... on PushEvent {
            repository
            branch
            newCommit
            pushOutcome
          }
        }
        pageInfo {
          hasPreviousPage
        }
      }
    }
  }
`;

/** Returns the branches that exist after the pushes of a session, each after its repository; null: unknown. */
function pushedBranches(answer: openPullRequestPushesQuery['response'] | undefined): ReadonlySet<string> | null {
  const events = answer?.session?.events;
  if (!events || events.pageInfo.hasPreviousPage) return null;
  const found = new Set<string>();
  for (const { repository, branch, newCommit, pushOutcome } of events.nodes) {
    // A push with an unknown outcome may have succeeded.
    if (pushOutcome === 'REFUSED') continue;
    if (newCommit == null) found.delete(`${repository} ${branch}`);
    else found.add(`${repository} ${branch}`);
  }
  return found;
}

const fieldNames = ['repository', 'title', 'body', 'base', 'labels', 'reviewers'];

/** A button that opens a pull request of a session's branch, with a dialog for its title and text. */
export function OpenPullRequest({ sessionId, title, repositories }: OpenPullRequestProps) {
  const toasts = useToasts();
  const [isOpen, setOpen] = useState(false);
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [open, isBusy] = useMutation<openPullRequestMutation>(
    graphql`
      mutation openPullRequestMutation($input: OpenPullRequestInput!) {
        openPullRequest(input: $input) {
          session {
            ...pullRequests_session
          }
          warnings
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const submit = async (fields: FormFields) => {
    const [labels, reviewers] = [fields.list('labels'), fields.list('reviewers')];
    const { payload, errors: refused } = await open({
      input: {
        sessionId,
        repository: fields.text('repository'),
        title: fields.text('title'),
        body: fields.textOrNull('body'),
        base: fields.textOrNull('base'),
        isDraft: fields.isOn('isDraft'),
        ...(labels.length > 0 && { labels }),
        ...(reviewers.length > 0 && { reviewers }),
      },
    });
    setErrors(refused);
    if (refused !== null) return;
    toasts.say(texts.opened);
    const warnings = payload?.warnings ?? [];
    if (warnings.length > 0) toasts.fail(warnings.map(visible).join(' '));
    setOpen(false);
  };
  const [send, isSending] = useMutation<openPullRequestAskMutation>(graphql`
    mutation openPullRequestAskMutation($input: SendMessageInput!) {
      sendMessage(input: $input) {
        userErrors {
          message
        }
      }
    }
  `);
  const askToPush = async (branch: string) => {
    const input = { sessionId, body: texts.pushMessage({ branch }), idempotencyKey: newKey() };
    if ((await send({ input })).errors !== null) return;
    toasts.say(texts.requested);
    setOpen(false);
  };
  const environment = useRelayEnvironment();
  const [pushed, setPushed] = useState<ReadonlySet<string> | null>(null);
  const [chosen, setChosen] = useState(0);
  const start = () => {
    setErrors(null);
    setPushed(null);
    setChosen(0);
    setOpen(true);
    // A hint, which is left out if it cannot be read.
    fetchQuery<openPullRequestPushesQuery>(environment, pushesQuery, { sessionId })
      .toPromise()
      .then((answer) => setPushed(pushedBranches(answer)))
      .catch(() => undefined);
  };
  const [first] = repositories;
  const named = repositories[chosen] ?? first;
  const isUnpushed = named !== undefined && pushed?.has(`${named.host}/${named.path} ${named.branch}`) === false;
  if (first === undefined) return null;
  const field = (name: string, label: string, hint: string) => (
    <TextField label={label} name={name} spellCheck={false} hint={hint} error={errorOf(errors, name)} />
  );
  return (
    <>
      <div>
        <Button size="small" icon="pull" onClick={start}>
          {texts.openPullRequest}
        </Button>
      </div>
      {isOpen && (
        <FormDialog
          title={texts.title}
          submitLabel={texts.open}
          size="large"
          isBusy={isBusy}
          errors={errors}
          fieldNames={fieldNames}
          onClose={() => setOpen(false)}
          onSubmit={(fields) => void submit(fields)}
        >
          <TextField
            label={common.title}
            name="title"
            required
            maxLength={250}
            defaultValue={title.replace(/…$/, '').slice(0, 250)}
            error={errorOf(errors, 'title')}
          />
          {repositories.length === 1 ? (
            <>
              <input type="hidden" name="repository" value={`${first.host}/${first.path}`} />
              <p className="soft">
                <RichText
                  text={texts.from}
                  slots={{ branch: <code>{visible(first.branch)}</code>, repository: visible(repositoryName(first)) }}
                />
              </p>
            </>
          ) : (
            <Select
              label={common.repository}
              name="repository"
              onChange={({ target }) => setChosen(target.selectedIndex)}
              error={errorOf(errors, 'repository')}
            >
              {repositories.map(({ host, path, branch }) => (
                <option key={`${host}/${path}`} value={`${host}/${path}`}>
                  {visible(`${repositoryName({ host, path })}, ${branch}`)}
                </option>
              ))}
            </Select>
          )}
          {isUnpushed && (
            <div className="problem" role="status">
              <p>{texts.notPushed}</p>
              <Button size="small" isBusy={isSending} onClick={() => void askToPush(named.branch)}>
                {texts.askToPush}
              </Button>
            </div>
          )}
          <TextArea label={texts.text} name="body" rows={6} hint={texts.bodyHint} error={errorOf(errors, 'body')} />
          <div className="fields">
            {field('base', texts.base, texts.baseHint)}
            {field('labels', texts.labels, texts.labelsHint)}
            {field('reviewers', texts.reviewers, texts.reviewersHint)}
          </div>
          <label className="check">
            <input type="checkbox" name="isDraft" /> {texts.draft}
          </label>
        </FormDialog>
      )}
    </>
  );
}
