import { Fragment } from 'react';
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  automationFacts_automation$data,
  automationFacts_automation$key,
} from '../../__generated__/automationFacts_automation.graphql.ts';
import type { automationFragment_automation$key } from '../../__generated__/automationFragment_automation.graphql.ts';
import { sessionAddress } from '../../session/address.ts';
import { automationFacts as texts } from '../../texts/automations.ts';
import { common } from '../../texts/common.ts';
import { RichText } from '../../ui/rich-text.tsx';
import { visible } from '../../ui/visible.ts';
import { type Action, readAction } from './action.ts';
import { automationFragment } from './automation-fragment.ts';
import { definitionOf } from './draft.ts';
import { actionLabel, eventLabel, missedLabel, operatorLabel } from './labels.ts';
import { ruleText } from './rule-text.ts';
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
          <dt>{common.trigger}</dt>
          <dd>{common.none}</dd>
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

type Condition = NonNullable<Trigger['conditions']>['any'][number]['all'][number];

function conditionText({ field, operator, value }: Condition): string {
  if (operator === 'RECURRENCE') return String(value);
  return [field, operatorLabel(operator), ...(value == null ? [] : [JSON.stringify(value)])].join(' ');
}

function TriggerFact({ trigger }: { readonly trigger: Trigger }) {
  const { eventType, conditions, timeZone, replies } = trigger;
  const groups = conditions?.any ?? [];
  const [first] = groups[0]?.all ?? [];
  const schedule =
    eventType === recurring && groups.length === 1 && groups[0]?.all.length === 1 && first?.operator === 'RECURRENCE'
      ? ruleText(String(first.value), timeZone ?? 'UTC')
      : null;
  return (
    <>
      <dt>{common.trigger}</dt>
      <dd>
        {eventLabel(eventType)}
        {schedule !== null && <div>{schedule}</div>}
        {schedule === null &&
          groups.map(({ all }, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: groups have no names.
            <div key={n}>
              {n > 0 && <span className="soft">{texts.or} </span>}
              <code>{all.map(conditionText).join(` ${texts.and} `)}</code>
            </div>
          ))}
        {schedule === null && eventType === recurring && timeZone && (
          <div className="soft">{texts.timeZone({ timeZone })}</div>
        )}
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
            <RichText
              text={texts.targetSession}
              slots={{ link: <Link href={sessionAddress(target)}>{session?.title ?? target}</Link> }}
            />
          </div>
        )}
        {autoCreate && <div className="soft">{texts.orNewSession}</div>}
        {playbookId && (
          <div>
            <RichText
              text={texts.playbook}
              slots={{
                value: playbook ? (
                  <Link href={`/manage/playbooks/${playbook.id}`}>{visible(playbook.title)}</Link>
                ) : (
                  playbookId
                ),
              }}
            />
          </div>
        )}
        {tags && <div className="soft">{texts.tags({ tags })}</div>}
        {repos && <div className="soft">{texts.repositories({ repos })}</div>}
        {more && <pre className="code">{more}</pre>}
      </dd>
    </>
  );
}

function SettingFacts({ settings }: { readonly settings: Settings }) {
  const draft = readSettings(settings);
  const facts: readonly (readonly [string, string])[] = [
    [common.sessionAcuLimit, draft.maxAcuLimit],
    [
      texts.runLimit,
      draft.maxPerWindow &&
        texts.runLimitValue({ runs: Number(draft.maxPerWindow), seconds: Number(draft.windowSeconds) }),
    ],
    [common.maxConcurrentSessions, draft.maxConcurrentRuns],
    [texts.maxQueuedRuns, draft.maxQueueDepth],
    [texts.randomDelay, draft.jitterSeconds && texts.upToSeconds({ seconds: Number(draft.jitterSeconds) })],
    [texts.missedRuns, settings.missedRuns ? missedLabel(settings.missedRuns) : ''],
    [texts.runAs, draft.runAs === 'ORGANIZATION' ? '' : texts.creator],
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
          <dt>{texts.otherSettings}</dt>
          <dd>
            <pre className="code">{draft.more}</pre>
          </dd>
        </>
      )}
    </>
  );
}
