import { plainLines } from '../../common/plain-text.ts';
import type { AgentReport, Outcome } from './report.ts';

/** The maximum number of choices shown for an option. */
const maxChoices = 6;

/** Formats a report for a terminal, without the control characters of the agent. Its last line says if the agent can be used. */
export function printReport(report: AgentReport): string {
  return plainLines(formatReport(report));
}

function formatReport(report: AgentReport): string {
  // For an agent that never answered there is nothing else to show.
  if (report.failure !== null && report.protocolVersion === null) {
    return `${report.id}\n  command  ${report.command.join(' ')}\n  sandbox  ${report.sandbox}\n${report.failure}\n`;
  }
  const lines: [string, string][] = [
    ['command', report.command.join(' ')],
    ['sandbox', report.sandbox],
    ['agent', [report.name ?? 'it gives no name', report.version].filter((each) => each !== null).join(' ')],
    ['protocol', report.protocolVersion === null ? '-' : `ACP ${report.protocolVersion}`],
    ['sign-in', listed(report.authMethods.map(({ id, name }) => (id === name ? id : `${id} (${name})`)))],
    ['offers', listed(report.offers)],
    ['prompts', listed(report.promptContent)],
    ['modes', listed(report.modes.map((mode) => (mode === report.currentMode ? `${mode} (now)` : mode)))],
    ...report.options.map(({ id, value, choices, isLocked }): [string, string] => [
      `option ${id}`,
      `${value}${formatChoices(choices)}${isLocked ? ', locked' : ''}`,
    ]),
    ...(['mcp', 'close', 'resume', 'load'] as const).map((name): [string, string] => [
      name,
      formatOutcome(report[name]),
    ]),
    ['tools', shownTools(report)],
    ['times', listed(report.timings.map(({ method, tookMs }) => `${method} ${seconds(tookMs)}`))],
    ...(report.answer === null ? [] : [['answer', report.answer.trim() || '-'] as [string, string]]),
  ];
  const width = Math.max(...lines.map(([name]) => name.length)) + 2;
  const shown = lines.map(
    ([name, value]) => `  ${name.padEnd(width)}${value.replaceAll('\n', `\n  ${' '.repeat(width)}`)}`,
  );
  const resumeStates = [report.resume.state, report.load.state];
  const isResumeUntested = report.answer === null && resumeStates.includes('failed') && !resumeStates.includes('works');
  if (isResumeUntested)
    shown.push(
      '  Some agents keep only sessions that had a turn: check with --prompt before you conclude that it cannot resume.',
    );
  if (report.answer === null && report.mcp.state === 'not tried')
    shown.push(
      '  The agent has not connected to the MCP server. Some agents connect only in a turn: check with --prompt.',
    );
  shown.push(...report.warnings.map((sentence) => `  ${sentence}`));
  const summary = report.failure ?? `It works: it was ready after ${seconds(report.readyMs ?? 0)}.`;
  return `${report.id}\n${shown.join('\n')}\n${summary}\n`;
}

function shownTools({ tools, mcp }: AgentReport): string {
  if (mcp.state === 'switched off') return '-';
  if (tools === null)
    return 'not known: only a turn (--prompt) through the gateway shows which tools the model receives';
  const missing = tools.missing.length > 0 ? `, but not ${tools.missing.join(', ')}` : '';
  return `the model receives ${listed(tools.arrived)}${missing}`;
}

function formatOutcome(outcome: Outcome): string {
  if (outcome.state === 'works') return `works (${seconds(outcome.tookMs)})`;
  return outcome.state === 'failed' ? `failed: ${outcome.reason}` : outcome.state;
}

function formatChoices(choices: readonly string[]): string {
  if (choices.length === 0) return '';
  const more = choices.length > maxChoices ? ` and ${choices.length - maxChoices} more` : '';
  return ` (of ${choices.slice(0, maxChoices).join(', ')}${more})`;
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? '-' : items.join(', ');
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 1_000 ? 2 : 1)} s`;
}
