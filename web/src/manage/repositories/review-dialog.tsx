import { useState } from 'react';
import { graphql } from 'react-relay';
import { useLocation } from 'wouter';
import type { reviewDialogMutation } from '../../__generated__/reviewDialogMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { sessionAddress } from '../../session/address.ts';
import { reviewDialog as texts } from '../../texts/repositories.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, TextArea, TextField } from '../../ui/field.tsx';
import { FormDialog, type FormFields, type FormProblem } from '../kit/kit.ts';

const fieldNames = ['pullRequestUrl', 'instructions'];

/** A button that starts a session which reviews a pull request, with a dialog for its address. */
export function ReviewPullRequest() {
  const { organization, may } = useSigned();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [review, isBusy] = useMutation<reviewDialogMutation>(
    graphql`
      mutation reviewDialogMutation($input: ReviewPullRequestInput!) {
        reviewPullRequest(input: $input) {
          session {
            sessionId
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  if (organization === null || !may('USE_SESSIONS')) return null;
  const submit = async (fields: FormFields) => {
    const { payload, errors: refused } = await review({
      input: {
        organizationId: organization.organizationId,
        pullRequestUrl: fields.text('pullRequestUrl'),
        instructions: fields.textOrNull('instructions'),
      },
    });
    setErrors(refused);
    if (payload?.session) navigate(sessionAddress(payload.session.sessionId));
  };
  return (
    <>
      <Button
        icon="pull"
        onClick={() => {
          setErrors(null);
          setOpen(true);
        }}
      >
        {texts.reviewAPullRequest}
      </Button>
      {isOpen && (
        <FormDialog
          title={texts.reviewAPullRequest}
          submitLabel={texts.start}
          isBusy={isBusy}
          errors={errors}
          fieldNames={fieldNames}
          onClose={() => setOpen(false)}
          onSubmit={(fields) => void submit(fields)}
        >
          <p className="soft">{texts.reviewText}</p>
          <TextField
            label={texts.pullRequestUrl}
            name="pullRequestUrl"
            type="url"
            required
            spellCheck={false}
            placeholder={texts.pullRequestUrlExample}
            error={errorOf(errors, 'pullRequestUrl')}
          />
          <TextArea label={texts.instructions} name="instructions" rows={4} error={errorOf(errors, 'instructions')} />
        </FormDialog>
      )}
    </>
  );
}
