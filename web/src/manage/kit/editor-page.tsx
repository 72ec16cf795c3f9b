import type { FormEvent, ReactNode } from 'react';
import { Link } from 'wouter';
import { Page } from '../../layout/page.tsx';
import { Button } from '../../ui/button.tsx';
import { FormErrors, type FormProblem, Given } from './form.tsx';

interface EditorPageProps {
  readonly title: string;
  /** The list that it is one of, to go back to. */
  readonly list: string;
  readonly mayChange: boolean;
  readonly isBusy: boolean;
  readonly errors: readonly FormProblem[] | null;
  /** The names of the fields that show their errors themselves. */
  readonly placed: readonly string[];
  readonly onSubmit: (given: Given) => void;
  readonly children: ReactNode;
}

/** A page with the form of one thing, too long for a dialog; who may not change it only reads. */
export function EditorPage(props: EditorPageProps) {
  const { title, list, mayChange, isBusy, errors, placed, onSubmit, children } = props;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new Given(event.currentTarget));
  };
  return (
    <Page title={title}>
      <form className="form card sheet" onSubmit={submit}>
        {children}
        <FormErrors errors={errors} placed={placed} />
        <div className="buttons">
          <Link className="button plain normal" href={list}>
            {mayChange ? 'Cancel' : 'Back'}
          </Link>
          {mayChange && (
            <Button type="submit" tone="primary" isBusy={isBusy}>
              Save
            </Button>
          )}
        </div>
      </form>
    </Page>
  );
}
