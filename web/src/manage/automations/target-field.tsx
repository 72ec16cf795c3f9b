import { Suspense, useDeferredValue } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { targetFieldQuery } from '../../__generated__/targetFieldQuery.graphql.ts';
import { sessionAddress } from '../../session/address.ts';
import { targetField as texts } from '../../texts/automation-form.ts';
import { TextField } from '../../ui/field.tsx';
import { type ActionDraft, sessionIdOf } from './action.ts';
import { type Problems, problemOf } from './problems.ts';

interface TargetFieldProps {
  readonly draft: ActionDraft;
  readonly problems: Problems;
  readonly onChange: (draft: ActionDraft) => void;
}

/** Selects the session that gets the message, by its id or the URL of its page, and shows its title. */
export function TargetField({ draft, problems, onChange }: TargetFieldProps) {
  const id = useDeferredValue(sessionIdOf(draft.target));
  return (
    <>
      <TextField
        label={texts.targetSession}
        placeholder={texts.sessionPlaceholder}
        spellCheck={false}
        required={!draft.autoCreate}
        value={draft.target}
        error={problemOf(problems, 'targetSessionId')}
        hint={
          /[0-9a-f]{32}$/i.test(id) && (
            <Suspense fallback={texts.loading}>
              <Target id={id} />
            </Suspense>
          )
        }
        onChange={({ target }) => onChange({ ...draft, target: target.value })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={draft.autoCreate}
          onChange={({ target }) => onChange({ ...draft, autoCreate: target.checked })}
        />
        {texts.newSessionIfClosed}
      </label>
      {problemOf(problems, 'autoCreate') && (
        <p className="problem" role="alert">
          {problemOf(problems, 'autoCreate')}
        </p>
      )}
    </>
  );
}

function Target({ id }: { readonly id: string }) {
  const { session } = useLazyLoadQuery<targetFieldQuery>(
    graphql`
      query targetFieldQuery($id: ID!) {
        session(id: $id) {
          sessionId
          title
        }
      }
    `,
    { id },
  );
  if (!session) return texts.sessionNotFound;
  return <Link href={sessionAddress(session.sessionId)}>{session.title ?? texts.untitledSession}</Link>;
}
