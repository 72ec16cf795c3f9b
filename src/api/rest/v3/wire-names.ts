/** Members whose nested names belong to the caller and are not translated. */
const free = new Set(['metadata', 'slack_monitor_config', 'slackMonitorConfig', 'value']);

/** Domain names that are not the wire name in camelCase. */
const ours: ReadonlyMap<string, string> = new Map([
  ['target_devin_id', 'targetSessionId'],
  ['devin_mode', 'sessionMode'],
]);
const wires: ReadonlyMap<string, string> = new Map([...ours].map(([wire, own]) => [own, wire]));

/** Translates the member names of a wire value to domain names, recursively. */
export function toOurNames(value: unknown): unknown {
  const rename = (name: string) =>
    ours.get(name) ?? name.replaceAll(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
  return renamed(value, rename);
}

/** The inverse of {@link toOurNames}. */
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
