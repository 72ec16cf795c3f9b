import { planPanel as texts } from '../texts/session-panes.ts';
import './plan-panel.css';
import { Icon } from '../ui/icons.tsx';
import { Empty } from '../ui/states.tsx';
import { visible } from '../ui/visible.ts';
import type { EntryOf } from './entry.ts';

/** The steps of an agent's plan. */
export type Plan = EntryOf<'PlanEvent'>['entries'];

/** Returns the number of completed steps. */
export const doneOf = (plan: Plan): number => plan.filter(({ status }) => status === 'COMPLETED').length;

const stateLabels: Readonly<Record<string, string>> = texts.states;

/** The current plan of the agent, with the state of each step. */
export function PlanPanel({ plan }: { readonly plan: Plan | null }) {
  if (plan === null || plan.length === 0) return <Empty title={texts.none} text={texts.noneText} />;
  return (
    <section className="plan-panel" aria-label={texts.plan}>
      <h2>{texts.progress({ done: doneOf(plan), count: plan.length })}</h2>
      <ol className="plan">
        {plan.map(({ content, status }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a plan is replaced as a whole.
          <li key={index} className={status.toLowerCase()}>
            <span className="box">{status === 'COMPLETED' && <Icon name="check" size={12} />}</span>
            <span className="step">{visible(content)}</span>
            <span className="state">{stateLabels[status] ?? status}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
