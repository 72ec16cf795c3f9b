import { graphql, useFragment } from 'react-relay';
import type { checkReport_check$data, checkReport_check$key } from '../../__generated__/checkReport_check.graphql.ts';
import { checkReport as texts } from '../../texts/agents.ts';
import { common } from '../../texts/common.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { RichText } from '../../ui/rich-text.tsx';
import { Time } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';

type Outcome = checkReport_check$data['report']['mcp'];

interface CheckReportProps {
  /** The agent's name. */
  readonly name: string;
  readonly check: checkReport_check$key;
  readonly onClose: () => void;
}

/** The report of an agent's last check. */
export function CheckReport({ name, check, onClose }: CheckReportProps) {
  const { at, report } = useFragment(
    graphql`
      fragment checkReport_check on AgentCheck {
        at
        report {
          failure
          warnings
          sandbox
          agentName
          agentVersion
          protocolVersion
          readyMs
          offers
          promptContent
          modes
          options {
            optionId
            value
            isLocked
          }
          mcp {
            state
            reason
            tookMs
          }
          close {
            state
            reason
            tookMs
          }
          resume {
            state
            reason
            tookMs
          }
          load {
            state
            reason
            tookMs
          }
        }
      }
    `,
    check,
  );
  const { failure, warnings, agentName, agentVersion, protocolVersion, readyMs, options } = report;
  const facts: readonly (readonly [string, string | null])[] = [
    [common.agent, [agentName, agentVersion].filter(Boolean).join(' ') || null],
    [texts.protocol, protocolVersion == null ? null : texts.protocolVersion({ version: protocolVersion })],
    [texts.readyAfter, readyMs == null ? null : seconds(readyMs)],
    [texts.sandbox, report.sandbox],
    [texts.mcpServers, outcomeText(report.mcp)],
    [texts.closeASession, outcomeText(report.close)],
    [texts.resumeASession, outcomeText(report.resume)],
    [texts.loadASession, outcomeText(report.load)],
    [texts.optionalMethods, report.offers.join(', ') || null],
    [texts.promptContent, report.promptContent.join(', ') || null],
    [texts.modes, report.modes.join(', ') || null],
    ...options.map(
      ({ optionId, value, isLocked }) => [texts.option({ optionId }), isLocked ? `${value} (locked)` : value] as const,
    ),
  ];
  return (
    <Dialog
      title={texts.checkOf({ name })}
      onClose={onClose}
      actions={<Button onClick={onClose}>{common.close}</Button>}
    >
      <div className="form">
        <p className={failure === null || failure === undefined ? undefined : 'problem'}>
          {failure == null ? texts.usable : visible(failure)}{' '}
          <span className="soft">
            <RichText text={texts.checkedAt} slots={{ time: <Time at={at} /> }} />
          </span>
        </p>
        {warnings.length > 0 && (
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{visible(warning)}</li>
            ))}
          </ul>
        )}
        <dl className="facts">
          {facts.map(
            ([label, value]) =>
              value !== null && (
                <div key={label}>
                  <dt>{visible(label)}</dt>
                  <dd>{visible(value)}</dd>
                </div>
              ),
          )}
        </dl>
      </div>
    </Dialog>
  );
}

const states: Readonly<Record<string, string>> = texts.states;

function outcomeText({ state, reason, tookMs }: Outcome): string {
  const text = states[state] ?? state;
  if (reason != null) return `${text}: ${reason}`;
  return tookMs == null ? text : `${text} (${seconds(tookMs)})`;
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(ms < 1_000 ? 2 : 1)} s`;
