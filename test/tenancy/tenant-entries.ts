import { newId } from '../../src/domain/ids.ts';
import type { NewEntry } from '../../src/domain/sessions/log.ts';
import type { TenantSeeder } from './tenant.ts';

/** Returns one log entry of every kind, so that every event type can be read. */
export function entriesOf(
  canary: TenantSeeder['canary'],
  owner: { userId: string | null; serviceUserId: string | null },
  question: { id: string; reason: 'question' | 'permission' },
): NewEntry[] {
  const [answered, messageId] = [newId(), newId()];
  const toEntry = (kind: NewEntry['kind']): NewEntry => ({
    kind,
    body: canary('body'),
    data: { note: canary('note') },
  });
  return [
    { kind: 'STATUS', data: { status: 'running', statusDetail: 'waiting_for_user', endedBy: null, isArchived: false } },
    { kind: 'MESSAGE', messageType: 'initial_user_message', body: canary('message'), ...owner },
    { kind: 'TURN', data: { turn: 1, phase: 'started', stopReason: canary('stop') } },
    { id: messageId, kind: 'MESSAGE', messageType: 'user_message', body: canary('message'), ...owner },
    { kind: 'MESSAGE_CHANGED', data: { messageId, change: 'edited' }, body: canary('edited'), ...owner },
    { kind: 'PLAN', data: { entries: [{ content: canary('plan'), status: 'pending', priority: 'high' }] } },
    {
      kind: 'TOOL_CALL',
      data: {
        toolCallId: canary('call'),
        title: canary('tool'),
        toolKind: 'edit',
        status: 'completed',
        output: canary('result'),
        locations: [{ path: canary('path'), line: 1 }],
        diffs: [{ path: canary('path'), oldText: canary('old'), newText: canary('new') }],
      },
    },
    {
      id: answered,
      kind: 'QUESTION',
      body: canary('question'),
      data: {
        reason: 'permission',
        options: [{ id: '1', name: canary('option'), kind: 'allow_once' }],
        toolCallId: canary('call'),
      },
    },
    { kind: 'PERMISSION', data: { toolCallId: canary('call'), title: canary('tool'), decision: 'allowed' } },
    { kind: 'USAGE', data: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } },
    {
      kind: 'REPOSITORY',
      data: { repository: canary('repository'), state: 'READY', percent: 100, text: canary('progress') },
    },
    {
      kind: 'PUSH',
      data: {
        repository: canary('repository'),
        branch: canary('branch'),
        old: canary('commit'),
        new: canary('commit'),
        subjects: [canary('subject')],
        refusal: canary('refusal'),
      },
    },
    ...(
      ['THOUGHT', 'NOTICE', 'LIMIT', 'PULL_REQUEST', 'STRUCTURED_OUTPUT', 'ATTACHMENT', 'REWIND', 'ERROR'] as const
    ).map(toEntry),
    // The first page has all kinds.
    {
      kind: 'MESSAGE',
      messageType: 'user_message',
      body: canary('answer'),
      data: { questionId: answered, optionId: '1' },
      ...owner,
    },
    {
      id: question.id,
      kind: 'QUESTION',
      body: canary('question'),
      data: { reason: question.reason, options: [{ id: '1', name: canary('option'), kind: null }] },
    },
    { kind: 'MESSAGE', messageType: 'agent_message', body: canary('message') },
  ];
}
