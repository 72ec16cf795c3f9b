import { actions as texts } from '../../texts/automation-form.ts';
import { common } from '../../texts/common.ts';
import { Button } from '../../ui/button.tsx';
import { type ActionDraft, newAction } from './action.ts';
import { ActionFields } from './action-fields.tsx';
import { Problem } from './problem.tsx';
import { type Problems, problemBeside, problemsIn } from './problems.ts';

/** The service's maximum number of actions. */
const maxActions = 10;

interface ActionsProps {
  readonly actions: readonly ActionDraft[];
  readonly problems: Problems;
  readonly onChange: (actions: readonly ActionDraft[], isOther: boolean) => void;
}

/** The list of an automation's actions. */
export function Actions({ actions, problems, onChange }: ActionsProps) {
  const beside = problemBeside(problems, ...actions.map((_, n) => String(n)));
  const starts = actions.some(({ type }) => type === 'start_session');
  const isWatching = actions.some(({ type }) => type === 'monitor_session');
  return (
    <fieldset className="group-box">
      <legend>{common.actions}</legend>
      {actions.map((draft, n) => (
        <fieldset className="part" key={draft.key}>
          <legend className={actions.length > 1 ? undefined : 'for-readers'}>{texts.legend({ n: n + 1 })}</legend>
          <ActionFields
            draft={draft}
            mayStart={!starts || draft.type === 'start_session'}
            problems={problemsIn(problems, n)}
            onChange={(changed) =>
              onChange(
                actions.map((each) => (each.key === draft.key ? changed : each)),
                changed.type !== draft.type,
              )
            }
          />
          {actions.length > 1 && (
            <div className="actions">
              <Button
                size="small"
                tone="quiet"
                icon="close"
                onClick={() =>
                  onChange(
                    actions.filter(({ key }) => key !== draft.key),
                    true,
                  )
                }
              >
                {texts.remove({ n: n + 1 })}
              </Button>
            </div>
          )}
        </fieldset>
      ))}
      {beside && <Problem text={beside} />}
      {actions.length < maxActions && !isWatching && (
        <div className="actions">
          <Button
            size="small"
            icon="plus"
            onClick={() => onChange([...actions, newAction(starts ? 'message_session' : 'start_session')], true)}
          >
            {texts.add}
          </Button>
        </div>
      )}
    </fieldset>
  );
}
