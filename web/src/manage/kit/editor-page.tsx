import { type FormEvent, type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { Page } from '../../layout/page.tsx';
import { Button } from '../../ui/button.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormErrors, type FormProblem, Given } from './form.tsx';
import { Restored, thrownAway } from './restored.tsx';
import { type Saved, SavedMeanwhile, takenTheirs, unseen } from './saved-meanwhile.tsx';
import { useKeptForm } from './use-kept-form.ts';
import { differing, type Values, valuesIn } from './values.ts';

/** The outcome of saving; `overtaken`: somebody else saved another version first. */
export type SaveResult = 'saved' | 'refused' | 'overtaken';

/** Reads the outcome of saving from the errors of a mutation with `expectedVersion`. */
export function saveResultOf(errors: readonly FormProblem[] | null): SaveResult {
  if (errors === null) return 'saved';
  return errors.some(({ path }) => path?.at(-1) === 'expectedVersion') ? 'overtaken' : 'refused';
}

interface EditorPageProps {
  readonly title: string;
  /** The list that it is one of, to go back to. */
  readonly list: string;
  /** Under what name it is kept while it is half written. */
  readonly draft: string;
  /** What its fields begin with: as the service has it, or as a new one is. */
  readonly stored: Values;
  /** What its fields are called. */
  readonly labels: Readonly<Record<string, string>>;
  readonly mayChange: boolean;
  readonly isBusy: boolean;
  readonly errors: readonly FormProblem[] | null;
  /** The names of the fields that show their errors themselves. */
  readonly placed: readonly string[];
  /** Asks the service how it stands now; null: it is a new one. */
  readonly look: (() => Promise<Saved | null>) | null;
  /** Saves it, if it still has this version; undefined: it is a new one. */
  readonly onSubmit: (given: Given, expectedVersion: number | undefined) => Promise<SaveResult>;
  /** Its fields, which begin with the values. */
  readonly children: (values: Values) => ReactNode;
}

const gone = 'Somebody has deleted it. What you wrote is still here: take it along, and make a new one of it.';

/**
 * A page with the form of one thing, too long for a dialog; who may not change it only reads. What is written stays until it is
 * saved or cancelled, and what somebody else has saved since the form was opened is not overwritten unasked: the service saves only
 * the version that was last looked at.
 */
export function EditorPage(props: EditorPageProps) {
  const { title, list, labels, mayChange, errors, placed, look, onSubmit, children } = props;
  const [location, go] = useLocation();
  const toasts = useToasts();
  const kept = useKeptForm(mayChange ? props.draft : null, props.stored);
  const [isLooking, setLooking] = useState(false);
  const [other, setOther] = useState<Saved | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  /** Looks at the service's version; null: nothing is to be saved, and the page says why. */
  const versionToSave = async (
    base: Values,
    written: Values,
  ): Promise<{ readonly version: number | undefined } | null> => {
    if (look === null) return { version: undefined };
    setLooking(true);
    const now = await look().catch(() => 'unseen' as const);
    setLooking(false);
    setProblem(now === 'unseen' ? unseen : now === null ? gone : null);
    if (now === 'unseen' || now === null) return null;
    const isNews = differing(now.values, base).length > 0 && differing(now.values, written).length > 0;
    setOther(isNews ? now : null);
    return isNews ? null : { version: now.version };
  };
  const save = async (form: HTMLFormElement, base: Values) => {
    const given = new Given(form);
    for (;;) {
      const seen = await versionToSave(base, valuesIn(form));
      if (seen === null) return;
      const result = await onSubmit(given, seen.version);
      if (result === 'saved') break;
      if (result === 'refused') return;
    }
    kept.end();
    go(list);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!isLooking && !props.isBusy) void save(event.currentTarget, other?.values ?? kept.base);
  };
  const cancel = () => {
    const address = location + window.location.search;
    const keepAgain = kept.end();
    go(list);
    if (keepAgain === null || !mayChange) return;
    toasts.say(thrownAway, () => {
      keepAgain();
      go(address);
    });
  };
  const replace = (said: string, values: Values, base: Values) => {
    const written = kept.form.current ? valuesIn(kept.form.current) : kept.values;
    setOther(null);
    kept.fill(values, base);
    toasts.say(said, () => kept.fill(written, base));
  };
  return (
    <Page title={title}>
      <form className="form card sheet" key={kept.round} ref={kept.form} onSubmit={submit} onInput={kept.keep}>
        {kept.isRestored && <Restored onThrowAway={() => replace(thrownAway, props.stored, props.stored)} />}
        {children(kept.values)}
        <FormErrors errors={errors} placed={placed} />
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        {other && <SavedMeanwhile saved={other} {...{ labels }} base={kept.base} />}
        <div className="buttons">
          <Button onClick={cancel}>{mayChange ? 'Cancel' : 'Back'}</Button>
          {other && <Button onClick={() => replace(takenTheirs, other.values, other.values)}>Take theirs</Button>}
          {mayChange && (
            <Button type="submit" tone="primary" isBusy={isLooking || props.isBusy}>
              {other ? 'Save mine anyway' : 'Save'}
            </Button>
          )}
        </div>
      </form>
    </Page>
  );
}
