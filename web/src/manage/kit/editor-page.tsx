import { type FormEvent, type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { Page } from '../../layout/page.tsx';
import { common } from '../../texts/common.ts';
import { editorPage as texts } from '../../texts/manage-kit.ts';
import { Button } from '../../ui/button.tsx';
import { useToasts } from '../../ui/toasts.tsx';
import { FormErrors, FormFields, type FormProblem } from './form.tsx';
import { discardedText, Restored } from './restored.tsx';
import { checkFailedText, type Saved, SavedMeanwhile, theirsTakenText } from './saved-meanwhile.tsx';
import { useDraftForm } from './use-draft-form.ts';
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
  /** The label of the button that creates a new object. */
  readonly createLabel: string;
  /** The path of the list that it belongs to. */
  readonly list: string;
  /** The name under which its draft is stored. */
  readonly draft: string;
  /** The initial values: the stored ones, or those of a new object. */
  readonly stored: Values;
  /** The labels of its fields. */
  readonly labels: Readonly<Record<string, string>>;
  readonly mayChange: boolean;
  readonly isBusy: boolean;
  readonly errors: readonly FormProblem[] | null;
  /** The fields that show their errors themselves. */
  readonly fieldNames: readonly string[];
  /** Reads the service's current version; null for a new object. */
  readonly fetchLatest: (() => Promise<Saved | null>) | null;
  /** Saves it if it still has this version; undefined for a new object. */
  readonly onSubmit: (fields: FormFields, expectedVersion: number | undefined) => Promise<SaveResult>;
  /** Its fields with these initial values. */
  readonly children: (values: Values) => ReactNode;
}

const deletedText = texts.deletedText;

/**
 * A page with the form of one object that is too long for a dialog; read-only for users who may not change it. Unsaved
 * input stays until it is saved or cancelled. A version that another user saved meanwhile is not overwritten without a
 * question: the service saves only over the version that was last read.
 */
export function EditorPage(props: EditorPageProps) {
  const { title, list, labels, mayChange, errors, fieldNames, fetchLatest, onSubmit, children } = props;
  const [location, go] = useLocation();
  const toasts = useToasts();
  const draftForm = useDraftForm(mayChange ? props.draft : null, props.stored);
  const [isChecking, setChecking] = useState(false);
  const [other, setOther] = useState<Saved | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  /** Reads the service's version; null: there is nothing to save, and the page shows the reason. */
  const versionToSave = async (
    base: Values,
    written: Values,
  ): Promise<{ readonly version: number | undefined } | null> => {
    if (fetchLatest === null) return { version: undefined };
    setChecking(true);
    const latest = await fetchLatest().catch(() => 'unseen' as const);
    setChecking(false);
    setProblem(latest === 'unseen' ? checkFailedText : latest === null ? deletedText : null);
    if (latest === 'unseen' || latest === null) return null;
    const isNews = differing(latest.values, base).length > 0 && differing(latest.values, written).length > 0;
    setOther(isNews ? latest : null);
    return isNews ? null : { version: latest.version };
  };
  const save = async (form: HTMLFormElement, base: Values) => {
    const fields = new FormFields(form);
    for (;;) {
      const seen = await versionToSave(base, valuesIn(form));
      if (seen === null) return;
      const result = await onSubmit(fields, seen.version);
      if (result === 'saved') break;
      if (result === 'refused') return;
    }
    draftForm.end();
    go(list);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!isChecking && !props.isBusy) void save(event.currentTarget, other?.values ?? draftForm.base);
  };
  const cancel = () => {
    const address = location + window.location.search;
    const restoreDraft = draftForm.end();
    go(list);
    if (restoreDraft === null || !mayChange) return;
    toasts.say(discardedText, () => {
      restoreDraft();
      go(address);
    });
  };
  const replace = (message: string, values: Values, base: Values) => {
    const written = draftForm.form.current ? valuesIn(draftForm.form.current) : draftForm.values;
    setOther(null);
    draftForm.fill(values, base);
    toasts.say(message, () => draftForm.fill(written, base));
  };
  return (
    <Page title={title}>
      <form
        className="form card sheet"
        key={draftForm.round}
        ref={draftForm.form}
        onSubmit={submit}
        onInput={draftForm.save}
      >
        {draftForm.isRestored && <Restored onDiscard={() => replace(discardedText, props.stored, props.stored)} />}
        {children(draftForm.values)}
        <FormErrors errors={errors} fieldNames={fieldNames} />
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        {other && <SavedMeanwhile saved={other} {...{ labels }} base={draftForm.base} />}
        <div className="buttons">
          <Button onClick={cancel}>{mayChange ? common.cancel : common.back}</Button>
          {other && (
            <Button onClick={() => replace(theirsTakenText, other.values, other.values)}>{texts.useTheirs}</Button>
          )}
          {mayChange && (
            <Button type="submit" tone="primary" isBusy={isChecking || props.isBusy}>
              {other ? texts.saveMine : fetchLatest === null ? props.createLabel : common.save}
            </Button>
          )}
        </div>
      </form>
    </Page>
  );
}
