import '../kit/manage.css';
import { useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import { Link } from 'wouter';
import type { devicePageQuery, devicePageQuery$data } from '../../__generated__/devicePageQuery.graphql.ts';
import { useSigned } from '../../app/gate.tsx';
import { mayHaveTokens } from '../../layout/navigation.ts';
import { Page } from '../../layout/page.tsx';
import { common } from '../../texts/common.ts';
import { devicePage as texts } from '../../texts/tokens.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { visible } from '../../ui/visible.ts';
import { FormFields } from '../kit/kit.ts';
import { type Decision, DeviceDecision } from './device-decision.tsx';

const query = graphql`
  query devicePageQuery($userCode: String!) {
    deviceAuthorization(userCode: $userCode) {
      clientName
      address
      createdAt
    }
  }
`;

/** A program that waits for a decision, with its code. */
export type WaitingProgram = NonNullable<devicePageQuery$data['deviceAuthorization']> & { readonly userCode: string };

/** `/device`: gives a program without a browser, such as the command line, access after the person has entered its code. */
export function DevicePage() {
  const environment = useRelayEnvironment();
  const signed = useSigned();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [waiting, setWaiting] = useState<WaitingProgram | null>(null);
  const [decision, setDecision] = useState<Decision | null>(null);

  const find = async (userCode: string) => {
    setBusy(true);
    setProblem(null);
    try {
      const found = await fetchQuery<devicePageQuery>(environment, query, { userCode }).toPromise();
      const program = found?.deviceAuthorization;
      if (program == null) setProblem(texts.unknownCode);
      else setWaiting({ ...program, userCode });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Page title={texts.title}>
      {decision !== null && waiting !== null ? (
        <section className="card sheet is-narrow">
          <p role="status">
            {decision === 'approved' ? texts.approved({ name: visible(waiting.clientName) }) : texts.denied}
          </p>
          {decision === 'approved' && mayHaveTokens(signed) && (
            <p>
              <Link href="/manage/my-tokens">{common.myTokens}</Link>
            </p>
          )}
        </section>
      ) : waiting !== null ? (
        <DeviceDecision program={waiting} onDecided={setDecision} />
      ) : (
        <form
          className="card sheet is-narrow"
          onSubmit={(event) => {
            event.preventDefault();
            void find(new FormFields(event.currentTarget).text('userCode'));
          }}
        >
          <p>{texts.intro}</p>
          <TextField
            label={texts.code}
            name="userCode"
            required
            autoFocus
            autoComplete="off"
            autoCapitalize="characters"
            spellCheck={false}
            placeholder={texts.codePlaceholder}
            maxLength={40}
            error={problem}
          />
          <div className="buttons">
            <Button type="submit" tone="primary" isBusy={isBusy}>
              {common.continue}
            </Button>
          </div>
        </form>
      )}
    </Page>
  );
}
