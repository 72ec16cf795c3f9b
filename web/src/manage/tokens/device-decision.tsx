import { useState } from 'react';
import { graphql } from 'react-relay';
import type { deviceDecisionApproveMutation } from '../../__generated__/deviceDecisionApproveMutation.graphql.ts';
import type { deviceDecisionDenyMutation } from '../../__generated__/deviceDecisionDenyMutation.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { useMutation } from '../../relay/use-mutation.ts';
import { common } from '../../texts/common.ts';
import { devicePage as texts } from '../../texts/tokens.ts';
import { Button } from '../../ui/button.tsx';
import { errorOf, Select } from '../../ui/field.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';
import { FormErrors, FormFields, type FormProblem } from '../kit/kit.ts';
import type { WaitingProgram } from './device-page.tsx';

/** The decision of the person. */
export type Decision = 'approved' | 'denied';

const dayMs = 24 * 60 * 60 * 1_000;
const lifetimes = [7, 30, 90, 365];

interface DeviceDecisionProps {
  readonly program: WaitingProgram;
  readonly onDecided: (decision: Decision) => void;
}

/** Shows the program that waits, and asks whether it gets access. */
export function DeviceDecision({ program, onDecided }: DeviceDecisionProps) {
  const { name } = useSigned();
  const [errors, setErrors] = useState<readonly FormProblem[] | null>(null);
  const [approve, isApproving] = useMutation<deviceDecisionApproveMutation>(
    graphql`
      mutation deviceDecisionApproveMutation($input: ApproveDeviceAuthorizationInput!) {
        approveDeviceAuthorization(input: $input) {
          apiKey {
            id
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
  const [deny, isDenying] = useMutation<deviceDecisionDenyMutation>(
    graphql`
      mutation deviceDecisionDenyMutation($input: DenyDeviceAuthorizationInput!) {
        denyDeviceAuthorization(input: $input) {
          isDenied
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const { userCode } = program;
  const decide = (decision: Decision, refused: readonly FormProblem[] | null) => {
    setErrors(refused);
    if (refused === null) onDecided(decision);
  };
  return (
    <form
      className="card sheet is-narrow"
      onSubmit={(event) => {
        event.preventDefault();
        const days = new FormFields(event.currentTarget).number('days');
        const expiresAt = days === null ? null : new Date(Date.now() + days * dayMs).toISOString();
        void approve({ input: { userCode, expiresAt } }).then((outcome) => decide('approved', outcome.errors));
      }}
    >
      <h2>{texts.question({ name: visible(program.clientName) })}</h2>
      <p>{texts.warning({ user: visible(name) })}</p>
      <dl className="facts">
        {program.address !== null && (
          <>
            <dt>{texts.address}</dt>
            <dd>{program.address}</dd>
          </>
        )}
        <dt>{texts.requested}</dt>
        <dd>
          <Time at={program.createdAt} />
        </dd>
      </dl>
      <Select label={common.expires} name="days" defaultValue="30" error={errorOf(errors, 'expiresAt')}>
        {lifetimes.map((days) => (
          <option key={days} value={days}>
            {texts.inDays({ days })}
          </option>
        ))}
        <option value="">{texts.never}</option>
      </Select>
      <FormErrors errors={errors} fieldNames={['expiresAt']} />
      <div className="buttons">
        <Button
          isBusy={isDenying}
          onClick={() => void deny({ input: { userCode } }).then((outcome) => decide('denied', outcome.errors))}
        >
          {texts.deny}
        </Button>
        <Button type="submit" tone="primary" isBusy={isApproving}>
          {texts.approve}
        </Button>
      </div>
    </form>
  );
}
