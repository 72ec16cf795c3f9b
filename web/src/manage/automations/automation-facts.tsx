import { Fragment } from 'react';
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  automationFacts_automation$data,
  automationFacts_automation$key,
} from '../../__generated__/automationFacts_automation.graphql.ts';
import type { automationFragment_automation$key } from '../../__generated__/automationFragment_automation.graphql.ts';
import { sessionAddress } from '../../session/address.ts';
import { visible } from '../../ui/visible.ts';
import { type Action, readAction } from './action.ts';
import { automationFragment } from './automation-fragment.ts';
import { definitionOf } from './draft.ts';
import { actionLabel, eventLabel, missedLabel, operatorLabel } from './labels.ts';
import { readSettings, type Settings } from './settings.ts';
import { recurring, type Trigger } from './trigger.ts';

type Named = automationFacts_automation$data['actions'][number];

/** All settings of an automation, as a list of terms and descriptions. */
export function AutomationFacts({ automation }: { readonly automation: automationFacts_automation$key }) {
  const named = useFragment(
    graphql`
      fragment automationFacts_automation on Automation {
        actions {
          ... on MessageSessionAction {
            targetSession {
              sessionId
              title
            }
          }
          ... on StartSessionAction {
            session {
              playbook {
                id
                title
              }
            }
          }
        }
        ...automationFragment_automation
      }
    `,
    automation,
  );
  const definition = definitionOf(useFragment<automationFragment_automation$key>(automationFragment, named));
  const { triggers, actions } = definition;
  return (
    <>
      {triggers.length === 0 && (
        <>
          <dt>Trigger</dt>
          <dd>None</dd>
        </>
      )}
      {triggers.map((trigger, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: triggers have no names.
        <TriggerFact trigger={trigger} key={n} />
      ))}
      {actions.map((action, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: actions have no names.
        <ActionFact action={action} named={named.actions[n]} key={n} />
      ))}
      <SettingFacts settings={definition} />
    </>
  );
}

function TriggerFact({ trigger }: { readonly trigger: Trigger }) {
  const { eventType, conditions, timeZone, replies } = trigger;
  return (
    <>
      <dt>Trigger</dt>
      <dd>
        {eventLabel(eventType)}
        {conditions?.any.map(({ all }, n) => {
          const text = all
            .map(({ field, operator, value }) =>
              operator === 'RECURRENCE'
                ? String(value)
                : [field, operatorLabel(operator), ...(value == null ? [] : [JSON.stringify(value)])].join(' '),
            )
            .join(' and ');
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: groups have no names.
            <div key={n}>
              {n > 0 && <span className="soft">or </span>}
              <code>{text}</code>
            </div>
          );
        })}
        {eventType === recurring && timeZone && <div className="soft">Time zone: {timeZone}</div>}
        {replies.length > 0 && (
          <div>
            <code>{JSON.stringify({ replies })}</code>
          </div>
        )}
      </dd>
    </>
  );
}

function ActionFact({ action, named }: { readonly action: Action; readonly named: Named | undefined }) {
  const { prompt, tags, repos, playbookId, target, autoCreate, more } = readAction(action);
  const playbook = named?.session?.playbook;
  const session = named?.targetSession;
  return (
    <>
      <dt>{actionLabel(action.type)}</dt>
      <dd>
        <div className="prompt-text">{prompt}</div>
        {target && (
          <div>
            Session: <Link href={sessionAddress(target)}>{session?.title ?? target}</Link>
          </div>
        )}
        {autoCreate && <div className="soft">or a new session if it no longer accepts messages</div>}
        {playbookId && (
          <div>
            Playbook:{' '}
            {playbook ? <Link href={`/manage/playbooks/${playbook.id}`}>{visible(playbook.title)}</Link> : playbookId}
          </div>
        )}
        {tags && <div className="soft">Tags: {tags}</div>}
        {repos && <div className="soft">Repositories: {repos}</div>}
        {more && <pre className="code">{more}</pre>}
      </dd>
    </>
  );
}

function SettingFacts({ settings }: { readonly settings: Settings }) {
  const draft = readSettings(settings);
  const facts: readonly (readonly [string, string])[] = [
    ['ACU limit per session', draft.maxAcuLimit],
    ['Run limit', draft.maxPerWindow && `${draft.maxPerWindow} in ${draft.windowSeconds} seconds`],
    ['Maximum concurrent sessions', draft.maxConcurrentRuns],
    ['Maximum queued runs', draft.maxQueueDepth],
    ['Random delay', draft.jitterSeconds && `up to ${draft.jitterSeconds} seconds`],
    ['Missed runs', settings.missedRuns ? missedLabel(settings.missedRuns) : ''],
    ['Run as', draft.runAs === 'ORGANIZATION' ? '' : 'Creator of the automation'],
  ];
  return (
    <>
      {facts
        .filter(([, text]) => text !== '')
        .map(([term, text]) => (
          <Fragment key={term}>
            <dt>{term}</dt>
            <dd>{text}</dd>
          </Fragment>
        ))}
      {draft.more && (
        <>
          <dt>Other settings</dt>
          <dd>
            <pre className="code">{draft.more}</pre>
          </dd>
        </>
      )}
    </>
  );
}
