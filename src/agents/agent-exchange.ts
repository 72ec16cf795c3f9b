/** A request to an agent and its outcome. */
export interface AgentExchange {
  readonly method: string;
  readonly tookMs: number;
  /** The agent's response; undefined if it did not answer or refused. */
  readonly result: unknown;
  readonly error: Error | null;
}
