import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { bareId, type ChaosRun } from './chaos.ts';
import { type Scenario, tokenForm } from './scenarios.ts';
import type { ChaosService } from './service.ts';

interface Entry {
  readonly seq: number;
  readonly kind: string;
  readonly messageType: string | null;
  readonly body: string | null;
  readonly data: Record<string, any> | null;
}

interface SessionRow {
  readonly status: string;
  readonly statusDetail: string | null;
  readonly endedBy: string | null;
  readonly structuredOutput: unknown;
  readonly deliveredSeq: number;
  readonly answeredSeqs: number[];
  readonly isTurnOpen: boolean;
  readonly isQueued: boolean;
  readonly nextSeq: number;
}

/** The problems in the remaining data, as sentences, and the number of sessions by final state. */
export interface Findings {
  readonly problems: string[];
  readonly states: Record<string, number>;
  /** The numbers of turns that began, and of turns that were interrupted or moved. */
  readonly turns: { readonly begun: number; readonly interrupted: number; readonly moved: number };
}

/** The possible final states of a session of each kind. An agent's crash counts against its session, whatever the cause. */
const finals: Record<Scenario['kind'], readonly string[]> = {
  plain: ['exit finished'],
  reporting: ['exit finished'],
  asking: ['exit finished'],
  steered: ['exit finished', 'running waiting_for_user'],
  terminated: ['exit terminated'],
  sleeping: ['suspended user_request'],
  crashing: ['error'],
};

/** Checks the logs of all sessions. */
export async function checkSessions({ service, scenarios, followed }: ChaosRun): Promise<Findings> {
  const { database } = service;
  const problems: string[] = [];
  const states: Record<string, number> = {};
  const turns = { begun: 0, interrupted: 0, moved: 0 };
  const { rows } = await database.query('select count(*)::int as count from session');
  if (rows[0].count !== scenarios.length) problems.push(`There are ${rows[0].count} sessions of ${scenarios.length}.`);
  const { rows: apart } = await database.query(`
    select count(*)::int as count from session s full join session_change c on c.session_id = s.id
     where (c.organization_id, c.updated_at, c.changed_xid, c.idleness)
           is distinct from (s.organization_id, s.updated_at, s.changed_xid, session_idleness(s.status, s.status_detail))`);
  if (apart[0].count !== 0) problems.push(`Of ${apart[0].count} sessions "session_change" says something else.`);
  for (const scenario of scenarios) {
    const entries = await readEntries(database, bareId(scenario));
    const session = await readSession(database, bareId(scenario));
    const state = [session.status, session.endedBy ?? session.statusDetail].filter(Boolean).join(' ');
    states[state] = (states[state] ?? 0) + 1;
    const found: string[] = [];
    if (!finals[scenario.kind].includes(state)) found.push(`its state is "${state}"`);
    found.push(
      ...checkNumbers(entries, session),
      ...checkUserMessages(scenario, entries, session),
      ...checkTurns(scenario, entries, session, turns),
      ...checkTools(entries),
    );
    const output = JSON.stringify(session.structuredOutput);
    const isReported = scenario.kind !== 'reporting' || output === `{"n":${scenario.name.split(' ')[1]}}`;
    if (!isReported) found.push(`its structured output is ${output}`);
    const received = followed.get(scenario);
    const stored = entries.filter((entry) => entry.messageType !== null).map(({ seq, body }) => ({ seq, body }));
    if (received && JSON.stringify(received) !== JSON.stringify(stored))
      found.push(`its subscriber got ${JSON.stringify(received)} of ${JSON.stringify(stored)}`);
    problems.push(...found.map((problem) => `${scenario.name} (${scenario.kind}, ${scenario.id}): ${problem}.`));
  }
  return { problems, states, turns };
}

async function readEntries(database: pg.Client, id: string): Promise<Entry[]> {
  const sql = `select seq, kind, message_type as "messageType", body, data from log_entry where session_id = $1 order by seq`;
  return (await database.query(sql, [id])).rows;
}

async function readSession(database: pg.Client, id: string): Promise<SessionRow> {
  const sql = `
    select s.status, s.status_detail as "statusDetail", s.ended_by as "endedBy", s.structured_output as "structuredOutput",
           r.delivered_seq as "deliveredSeq", r.answered_seqs as "answeredSeqs", r.is_turn_open as "isTurnOpen",
           r.queued_at is not null as "isQueued", h.next_seq as "nextSeq"
      from session s join run r on r.session_id = s.id join session_head h on h.session_id = s.id where s.id = $1`;
  return (await database.query(sql, [id])).rows[0];
}

function checkNumbers(entries: readonly Entry[], { nextSeq }: SessionRow): string[] {
  const isGapless = entries.every(({ seq }, n) => seq === n + 1) && nextSeq === entries.length + 1;
  return isGapless ? [] : [`its numbers have a gap: ${entries.map(({ seq }) => seq)}, next ${nextSeq}`];
}

const isUsers = ({ messageType }: Entry) => messageType !== null && messageType !== 'agent_message';

// Each acknowledged message is stored once, at its acknowledged position; no other message is stored.
function checkUserMessages(scenario: Scenario, entries: readonly Entry[], session: SessionRow): string[] {
  const found: string[] = [];
  const stored = entries.filter(isUsers);
  for (const [token, { seq }] of scenario.acknowledged) {
    const own = stored.filter(({ body }) => body?.match(tokenForm)?.[0] === token);
    if (own.length !== 1) found.push(`the message ${token} is there ${own.length} times`);
    else if (seq !== null && own[0]?.seq !== seq)
      found.push(`the message ${token} is number ${own[0]?.seq}, not ${seq}`);
  }
  if (stored.length !== scenario.acknowledged.size)
    found.push(`it has ${stored.length} messages of users, of which ${scenario.acknowledged.size} were acknowledged`);
  const isDelivered = ({ seq }: Entry) => seq <= session.deliveredSeq || session.answeredSeqs.includes(seq);
  const isOver = session.status !== 'exit' || session.endedBy === 'finished';
  const left = stored.filter((entry) => isOver && !isDelivered(entry));
  if (left.length > 0) found.push(`the agent was never given ${left.map(({ body }) => body)}`);
  return found;
}

interface Attempt {
  readonly turn: number;
  readonly generation: number;
  readonly workerId: string;
  readonly tokens: string[];
  stopReason: string | null;
}

/**
 * A turn is tried until it ends: the text of an earlier attempt is a prefix of the last attempt's text, and the text of an ended
 * turn is never repeated. Generations only grow, and each belongs to one worker.
 */
function checkTurns(
  scenario: Scenario,
  entries: readonly Entry[],
  session: SessionRow,
  turns: { begun: number; interrupted: number; moved: number },
): string[] {
  const found: string[] = [];
  const attempts: Attempt[] = [];
  for (const entry of entries) {
    const last = attempts.at(-1);
    if (entry.kind === 'TURN' && entry.data?.phase === 'started')
      attempts.push({
        ...(entry.data as Pick<Attempt, 'turn' | 'generation' | 'workerId'>),
        tokens: [],
        stopReason: null,
      });
    else if (entry.kind === 'TURN' && last) {
      if (last.stopReason !== null || entry.data?.turn !== last.turn) found.push(`turn ${last.turn} was ended twice`);
      last.stopReason = entry.data?.stopReason;
    } else if (entry.messageType === 'agent_message') {
      const matches = entry.body?.match(tokenForm) ?? [];
      if (matches.length > 0 && (!last || last.stopReason !== null))
        found.push(`"${entry.body}" was said outside of a turn`);
      last?.tokens.push(...matches);
    }
  }
  const finished: string[] = [];
  let before: Attempt | null = null;
  for (const attempt of attempts) {
    const { turn, generation, workerId, tokens } = attempt;
    turns.begun += 1;
    if (attempt.stopReason === null) turns.interrupted += 1;
    if (before && before.workerId !== workerId) turns.moved += 1;
    if (before && (generation < before.generation || turn !== before.turn + 1))
      found.push(`turn ${turn} of generation ${generation} came after ${before.turn} of ${before.generation}`);
    if (before && generation === before.generation && (before.workerId !== workerId || before.stopReason === null))
      found.push(`generation ${generation} was run twice, by ${before.workerId} and ${workerId}`);
    if (new Set(tokens).size !== tokens.length) found.push(`turn ${turn} said things twice: ${tokens}`);
    const again = tokens.filter((token) => finished.includes(token));
    if (again.length > 0) found.push(`turn ${turn} said again what an ended one had said: ${again}`);
    const lost = before?.stopReason === null ? before.tokens.filter((token) => !tokens.includes(token)) : [];
    if (attempt.stopReason === 'end_turn' && lost.length > 0) found.push(`turn ${turn} did not say ${lost} again`);
    if (attempt.stopReason === 'end_turn') finished.push(...tokens);
    before = attempt;
  }
  if (session.status === 'exit' && session.isTurnOpen && session.endedBy === 'finished') found.push('its turn is open');
  if (session.isQueued) found.push('it waits for a worker');
  const isComplete = scenario.kind === 'plain' || scenario.kind === 'reporting' || scenario.kind === 'asking';
  const unsaid = [...scenario.acknowledged.keys()].filter((token) => isComplete && !finished.includes(token));
  if (unsaid.length > 0) found.push(`the agent has not said ${unsaid}, but ${finished}`);
  const isOrdered =
    scenario.kind === 'asking' || finished.every((token, n) => n === 0 || numberOf(token) > numberOf(finished[n - 1]));
  if (!isOrdered) found.push(`the agent spoke in the order ${finished}`);
  return found;
}

const numberOf = (token = '') => Number(token.split('-')[2]);

function checkTools(entries: readonly Entry[]): string[] {
  const last = new Map(entries.filter(({ kind }) => kind === 'TOOL_CALL').map(({ data }) => [data?.toolCallId, data]));
  const open = [...last.values()].filter((data) => data?.status === 'pending' || data?.status === 'in_progress');
  return open.map((data) => `its tool call "${data?.title}" is open`);
}

/** Checks what is left of the processes once all have stopped. */
export async function checkLeftovers(service: ChaosService): Promise<string[]> {
  const found: string[] = [];
  const pids = service.agents();
  if (pids.length > 0) found.push(`Processes of agents are left: ${pids}.`);
  const { rows } = await service.database.query('select session_id as id, worker_id as worker from lease');
  if (rows.length > 0) found.push(`Leases are left: ${JSON.stringify(rows)}.`);
  const ids = service.workerIds();
  const dirs = readdirSync(tmpdir()).filter((name) => ids.some((id) => name.startsWith(`sy-${id}-`)));
  if (dirs.length > 0) found.push(`Directories are left: ${dirs}.`);
  for (const name of ['worker one', 'worker two']) {
    const spool = join(service.root, name, 'agents');
    const spooled = existsSync(spool) ? readdirSync(spool) : [];
    if (spooled.length > 0) found.push(`Processes are noted of ${name}: ${spooled}.`);
  }
  return found;
}
