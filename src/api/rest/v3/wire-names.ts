/** Members whose own names are the caller's. */
const free = new Set(['metadata', 'slack_monitor_config', 'slackMonitorConfig', 'value']);

/** Names that are not just ours in snake_case. */
const ours: ReadonlyMap<string, string> = new Map([
  ['target_devin_id', 'targetSessionId'],
  ['devin_mode', 'sessionMode'],
]);
const wires: ReadonlyMap<string, string> = new Map([...ours].map(([wire, own]) => [own, wire]));

/** A JSON value of the wire with the names of its members as we call them, all the way down. */
export function toOurNames(value: unknown): unknown {
  const rename = (name: string) =>
    ours.get(name) ?? name.replaceAll(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
  return renamed(value, rename);
}

/** {@link toOurNames} backwards. */
export function toWireNames(value: unknown): unknown {
  const rename = (name: string) => wires.get(name) ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return renamed(value, rename);
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, rename));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [rename(name), free.has(name) ? inner : renamed(inner, rename)]),
  );
}
