/** ACP's stop reasons. */
const stopReasons = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'];

/**
 * Reads the stop reason of the response to a prompt. It goes into the log, so only the protocol's own are accepted; an
 * unknown one counts as a normal end.
 */
export function stopReasonOf(result: { stopReason?: unknown } | null): string {
  return stopReasons.find((reason) => reason === result?.stopReason) ?? 'end_turn';
}
