import { graphql, useFragment } from 'react-relay';
import type { checkReport_check$data, checkReport_check$key } from '../../__generated__/checkReport_check.graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
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
    ['Agent', [agentName, agentVersion].filter(Boolean).join(' ') || null],
    ['Protocol', protocolVersion == null ? null : `ACP ${protocolVersion}`],
    ['Ready after', readyMs == null ? null : seconds(readyMs)],
    ['Sandbox', report.sandbox],
    ['MCP servers', outcomeText(report.mcp)],
    ['Close a session', outcomeText(report.close)],
    ['Resume a session', outcomeText(report.resume)],
    ['Load a session', outcomeText(report.load)],
    ['Optional methods', report.offers.join(', ') || null],
    ['Content of prompts', report.promptContent.join(', ') || null],
    ['Modes', report.modes.join(', ') || null],
    ...options.map(
      ({ optionId, value, isLocked }) => [`Option ${optionId}`, isLocked ? `${value} (locked)` : value] as const,
    ),
  ];
  return (
    <Dialog title={`Check of ${name}`} onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <div className="form">
        <p className={failure === null || failure === undefined ? undefined : 'problem'}>
          {failure == null ? 'The agent can be used.' : visible(failure)}{' '}
          <span className="soft">
            Checked <Time at={at} />.
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

const states: Readonly<Record<string, string>> = {
  WORKS: 'Works',
  FAILED: 'Failed',
  NOT_OFFERED: 'Not offered',
  NOT_TRIED: 'Not tried',
  SWITCHED_OFF: 'Switched off',
};

function outcomeText({ state, reason, tookMs }: Outcome): string {
  const text = states[state] ?? state;
  if (reason != null) return `${text}: ${reason}`;
  return tookMs == null ? text : `${text} (${seconds(tookMs)})`;
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(ms < 1_000 ? 2 : 1)} s`;
