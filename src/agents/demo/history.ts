import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { RequestError, type SessionUpdate } from '@agentclientprotocol/sdk';

const directory = join(homedir(), '.switchyard-demo');

function fileOf(sessionId: string): string {
  return join(directory, `${sessionId.replace(/[^A-Za-z0-9-]/g, '_')}.ndjson`);
}

/** Creates an empty history; returns its session id. */
export function newSession(): string {
  mkdirSync(directory, { recursive: true });
  const id = randomUUID();
  writeFileSync(fileOf(id), '');
  return id;
}

/** The updates of a session, oldest first. An ACP error if the session is unknown. */
export function readHistory(sessionId: string): SessionUpdate[] {
  const file = fileOf(sessionId);
  if (!existsSync(file)) throw RequestError.invalidParams({ sessionId }, 'There is no such session.');
  const text = readFileSync(file, 'utf8');
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as SessionUpdate];
    } catch {
      // The process was killed while it wrote this line.
      return [];
    }
  });
}

/** Appends one update. Synchronous, so that a reported update is on disk before anything can kill the process. */
export function appendHistory(sessionId: string, update: SessionUpdate): void {
  appendFileSync(fileOf(sessionId), `${JSON.stringify(update)}\n`);
}
