import { type FormEvent, useEffect, useId, useRef } from 'react';
import { common } from '../../texts/common.ts';
import { testDialog as texts } from '../../texts/git-connections.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFields } from '../kit/kit.ts';
import { TestResult } from './test-result.tsx';
import { useConnectionTest } from './use-connection-test.ts';

interface TestDialogProps {
  readonly gitConnectionId: string;
  readonly name: string;
  /** True for a server that has to be tested with a repository. */
  readonly needsRepository: boolean;
  /** The repository that such a server is tested with; null: the user enters it. */
  readonly repositoryPath: string | null;
  /** Called after each test, which the service has recorded. */
  readonly onTested: () => void;
  readonly onClose: () => void;
}

/** Tests a stored connection and shows the report. Starts at once, unless it needs a repository. */
export function TestDialog(props: TestDialogProps) {
  const { gitConnectionId, name, needsRepository, repositoryPath: known, onTested, onClose } = props;
  const form = useId();
  const { test, isTesting, result } = useConnectionTest();
  const run = async (repositoryPath: string | null) => {
    await test({ gitConnectionId, repositoryPath });
    onTested();
  };
  const hasStarted = useRef(false);
  useEffect(() => {
    if (hasStarted.current || (needsRepository && known === null)) return;
    hasStarted.current = true;
    void run(known);
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!isTesting) void run(new FormFields(event.currentTarget).textOrNull('repositoryPath'));
  };
  // The user has to name a repository first.
  const isFirst = needsRepository && result === null;
  return (
    <Dialog
      title={common.testName({ name })}
      onClose={onClose}
      actions={
        <>
          <Button type="submit" form={form} tone={isFirst ? 'primary' : 'plain'} isBusy={isTesting}>
            {isFirst ? common.test : texts.testAgain}
          </Button>
          <Button tone={isFirst ? 'plain' : 'primary'} onClick={onClose}>
            {isFirst ? common.cancel : texts.done}
          </Button>
        </>
      }
    >
      <form id={form} className="form" autoComplete="off" onSubmit={submit}>
        {needsRepository && (
          <TextField
            label={texts.testRepository}
            name="repositoryPath"
            required
            defaultValue={known ?? ''}
            spellCheck={false}
            placeholder={texts.testRepositoryExample}
            hint={texts.testRepositoryHint}
          />
        )}
        <TestResult isTesting={isTesting} result={result} />
      </form>
    </Dialog>
  );
}
