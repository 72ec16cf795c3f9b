import { useState } from 'react';
import { graphql } from 'react-relay';
import type { openPullRequestMutation } from '../__generated__/openPullRequestMutation.graphql.ts';
import { FormDialog, type FormFields, type FormProblem } from '../manage/kit/kit.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { Button } from '../ui/button.tsx';
import { errorOf, Select, TextArea, TextField } from '../ui/field.tsx';
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
    toasts.say('The pull request is open.');
    const warnings = payload?.warnings ?? [];
    if (warnings.length > 0) toasts.fail(warnings.map(visible).join(' '));
    setOpen(false);
  };
  const start = () => {
    setErrors(null);
    setOpen(true);
  };
  const [first] = repositories;
  if (first === undefined) return null;
  const field = (name: string, label: string, hint?: string, placeholder?: string) => (
    <TextField
      label={label}
      name={name}
      spellCheck={false}
      hint={hint}
      placeholder={placeholder}
      error={errorOf(errors, name)}
    />
  );
  return (
    <>
      <div>
        <Button size="small" icon="pull" onClick={start}>
          Open pull request
        </Button>
      </div>
      {isOpen && (
        <FormDialog
          title="Open a pull request"
          submitLabel="Open"
          size="large"
          isBusy={isBusy}
          errors={errors}
          fieldNames={fieldNames}
          onClose={() => setOpen(false)}
          onSubmit={(fields) => void submit(fields)}
        >
          <TextField
            label="Title"
            name="title"
            required
            maxLength={250}
            defaultValue={title.slice(0, 250)}
            error={errorOf(errors, 'title')}
          />
          {repositories.length === 1 ? (
            <>
              <input type="hidden" name="repository" value={`${first.host}/${first.path}`} />
              <p className="soft">
                From <code>{visible(first.branch)}</code> of {visible(repositoryName(first))}
              </p>
            </>
          ) : (
            <Select label="Repository" name="repository" error={errorOf(errors, 'repository')}>
              {repositories.map(({ host, path, branch }) => (
                <option key={`${host}/${path}`} value={`${host}/${path}`}>
                  {visible(`${repositoryName({ host, path })}, ${branch}`)}
                </option>
              ))}
            </Select>
          )}
          <TextArea
            label="Text"
            name="body"
            rows={6}
            hint="Markdown. If you leave it empty, the template of the repository."
            error={errorOf(errors, 'body')}
          />
          <div className="fields">
            {field('base', 'Base', undefined, 'Branch that the session started from')}
            {field('labels', 'Labels', undefined, 'Separate with commas')}
            {field('reviewers', 'Reviewers', undefined, 'Separate with commas')}
          </div>
          <label className="check">
            <input type="checkbox" name="isDraft" /> Draft
          </label>
        </FormDialog>
      )}
    </>
  );
}
