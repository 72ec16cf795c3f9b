import { common } from '../texts/common.ts';
import { repositoriesPicker as texts } from '../texts/pickers.ts';
import './repositories-picker.css';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Icon } from '../ui/icons.tsx';
import { Picker } from '../ui/picker.tsx';
import { problemText } from '../ui/problem-text.ts';
import { visible } from '../ui/visible.ts';
import {
  addRepository,
  type ChosenRepository,
  maxRepositories,
  mayBeRepository,
  repositoryError,
} from './chosen-repository.ts';
import { useSeesForges } from './use-forge-choices.ts';
import { useRepositoryChecks } from './use-repository-checks.ts';
import { useOfferedRepositories } from './use-repository-choices.ts';

interface RepositoriesPickerProps {
  readonly organizationId: string;
  readonly label: string;
  readonly hint?: ReactNode;
  readonly value: readonly ChosenRepository[];
  readonly onChange: (value: readonly ChosenRepository[]) => void;
  readonly errors: readonly { readonly message: string; readonly path?: readonly string[] | null | undefined }[] | null;
  /** The name of the list in the paths of errors. */
  readonly listName: string;
  /** True if each repository has a base and a branch. */
  readonly hasBranches?: boolean;
  readonly isDisabled?: boolean;
}

/**
 * Chooses several repositories: those that the organization has used and that forges list, by typing, or any other by its name or address. A
 * name that the forge does not know gets a warning.
 */
export function RepositoriesPicker(props: RepositoriesPickerProps) {
  const { organizationId, label, hint, value, onChange, errors, listName, hasBranches = false } = props;
  const { isDisabled = false } = props;
  const source = useOfferedRepositories(organizationId);
  const seesForges = useSeesForges();
  const { warnings, check } = useRepositoryChecks(organizationId);
  const change = (index: number, changes: Partial<ChosenRepository>) =>
    onChange(value.map((each, at) => (at === index ? { ...each, ...changes } : each)));
  const general = errors?.find(({ path }) => path?.at(-1) === listName)?.message ?? null;
  return (
    <div className="repositories">
      <Picker
        label={label}
        source={source}
        value=""
        takesOther={mayBeRepository}
        keepsTyped
        placeholder={texts.placeholder}
        emptyText={seesForges ? texts.emptyTextWithForges : texts.emptyText}
        hint={
          value.length >= maxRepositories
            ? texts.limitHint({ maxRepositories })
            : (hint ?? (seesForges ? texts.hintWithForges : texts.hint))
        }
        isDisabled={isDisabled || value.length >= maxRepositories}
        error={general}
        onChange={(name) => {
          onChange(addRepository(value, name));
          check(name.trim());
        }}
      />
      {value.length > 0 && (
        <ul aria-label={texts.chosen({ label })}>
          {value.map(({ repository, ref, branch }, index) => {
            const error = (field: string | null) => repositoryError(errors, listName, index, field);
            const own = error('repository') ?? error(null);
            const isOpen = error('ref') !== null || error('branch') !== null;
            return (
              <li key={repository}>
                <div className="repository">
                  <Icon name="book" size={14} />
                  <span>{visible(repository)}</span>
                  {!isDisabled && (
                    <Button
                      tone="quiet"
                      size="small"
                      icon="close"
                      aria-label={common.removeName({ name: repository })}
                      onClick={() => onChange(value.filter((_, at) => at !== index))}
                    />
                  )}
                </div>
                {own !== null && (
                  <p className="problem" role="alert">
                    {problemText(own)}
                  </p>
                )}
                <p className="warning" role="status">
                  {own === null && warnings.has(repository) && (
                    <>
                      <Icon name="warning" size={14} /> {visible(warnings.get(repository) ?? '')}
                    </>
                  )}
                </p>
                {hasBranches && (
                  <details open={isOpen || undefined}>
                    <summary>{texts.branches({ chosen: summaryOf(ref, branch) })}</summary>
                    <div className="fields">
                      <TextField
                        label={texts.startFrom({ repository })}
                        placeholder={common.defaultBranch}
                        hint={texts.startFromHint}
                        spellCheck={false}
                        value={ref}
                        onChange={({ target }) => change(index, { ref: target.value })}
                        error={error('ref')}
                      />
                      <TextField
                        label={texts.branchIn({ repository })}
                        placeholder={texts.newBranch}
                        hint={texts.branchHint}
                        spellCheck={false}
                        value={branch}
                        onChange={({ target }) => change(index, { branch: target.value })}
                        error={error('branch')}
                      />
                    </div>
                  </details>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}

function summaryOf(ref: string, branch: string): string {
  const parts = [
    ref.trim() && texts.from({ ref: visible(ref.trim()) }),
    branch.trim() && texts.on({ branch: visible(branch.trim()) }),
  ];
  const text = parts.filter(Boolean).join(', ');
  return text === '' ? '' : `: ${text}`;
}
